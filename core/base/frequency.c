#include "base/clock.h"

#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))

enum { ROUNDS = 100, TRIES = 20 };

#if defined(__x86_64__)
/* Not an add chain: recent cores resolve additions of constants before they execute. */
enum { CYCLES_EACH = 3 };
static void chain(void) {
    uint64_t value = 3;
    for (int i = 0; i < ROUNDS; i++) {
        __asm__ volatile(SIXTEEN("imul %0, %0\n\t") : "+r"(value));
    }
}
#elif defined(__aarch64__)
enum { CYCLES_EACH = 1 };
static void chain(void) {
    uint64_t value = 3;
    uint64_t other = 5;
    for (int i = 0; i < ROUNDS; i++) {
        __asm__ volatile(SIXTEEN("eor %0, %0, %1\n\t") : "+r"(value) : "r"(other));
    }
}
#else
enum { CYCLES_EACH = 0 };
static void chain(void) {
}
#endif

double clock_effective_mhz(void) {
    uint64_t best = UINT64_MAX;
    for (int attempt = 0; CYCLES_EACH > 0 && attempt < TRIES; attempt++) {
        uint64_t start = clock_read().ticks;
        chain();
        uint64_t ticks = clock_read().ticks - start;
        best = ticks < best ? ticks : best;
    }
    if (best == UINT64_MAX || best == 0) {
        return 0.0;
    }
    double seconds = (double)best / (double)clock_used.hz;
    return (double)(CYCLES_EACH * 16 * ROUNDS) / seconds / 1e6;
}
