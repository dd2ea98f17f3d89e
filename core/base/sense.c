#include "base/sense.h"

#include "base/clock.h"

/* Six chains: no core of today adds more often in one cycle, so that all its units are at work. What is added
 * comes from a register, because recent cores resolve additions of constants before they execute. */
#if defined(__x86_64__)
#define SIX                                                                                                  \
    "add %[by], %[a]\n\tadd %[by], %[b]\n\tadd %[by], %[c]\n\t"                                              \
    "add %[by], %[d]\n\tadd %[by], %[e]\n\tadd %[by], %[f]\n\t"
#elif defined(__aarch64__)
#define SIX                                                                                                  \
    "add %[a], %[a], %[by]\n\tadd %[b], %[b], %[by]\n\tadd %[c], %[c], %[by]\n\t"                            \
    "add %[d], %[d], %[by]\n\tadd %[e], %[e], %[by]\n\tadd %[f], %[f], %[by]\n\t"
#endif
#define FOUR(x) x x x x

#if defined(SIX)
enum { EACH = 96, ROUNDS = SENSE_ADDITIONS / EACH }; /* more in a round would need more of the caches */

__attribute__((hot, noinline)) static void add(int rounds) {
    uint64_t a = 1;
    uint64_t b = 1;
    uint64_t c = 1;
    uint64_t d = 1;
    uint64_t e = 1;
    uint64_t f = 1;
    for (int i = 0; i < rounds; i++) {
        __asm__ volatile(FOUR(FOUR(SIX))
                         : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [e] "+r"(e), [f] "+r"(f)
                         : [by] "r"((uint64_t)3)
                         : "cc");
    }
}

__attribute__((hot)) uint32_t sense_additions(void) {
    add(1); /* a launch leaves this code out of the caches, and the first one finds it there */
    uint64_t start = clock_read().ticks;
    add(ROUNDS);
    uint64_t ticks = clock_read().ticks - start;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}
#else
uint32_t sense_additions(void) {
    return 0;
}
#endif
