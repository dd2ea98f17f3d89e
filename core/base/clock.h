/* The clock that stamps launches: the processor's time-stamp counter where it is invariant and the kernel
 * trusts it, else CLOCK_MONOTONIC.
 *
 * A stamp is ticks and the CPU it was read on. With the TSC both come from one instruction: rdtscp waits for
 * all earlier instructions, and Linux keeps the CPU's number in IA32_TSC_AUX; the lfence after it keeps later
 * instructions from starting early (Intel SDM vol. 2B, RDTSCP; arch/x86/kernel/cpu/common.c, setup_getcpu).
 */
#ifndef CLONOMETER_CLOCK_H
#define CLONOMETER_CLOCK_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#define CLOCK_HAS_TSC 1
#else
#define CLOCK_HAS_TSC 0
#endif

enum clock_kind { CLOCK_KIND_MONOTONIC = 0, CLOCK_KIND_TSC = 1 };

struct clock {
    enum clock_kind kind;
    uint64_t hz; /* ticks per second; 1,000,000,000 for CLOCK_MONOTONIC */
};

struct stamp {
    uint64_t ticks;
    uint32_t cpu;
};

/* Set once before measuring and only read afterwards, so that a forked child reads it without a fault. */
extern struct clock clock_used;

struct stamp clock_read_monotonic(void);

static inline struct stamp clock_read(void) {
#if CLOCK_HAS_TSC
    if (__builtin_expect(clock_used.kind == CLOCK_KIND_TSC, 1)) {
        uint32_t low;
        uint32_t high;
        uint32_t aux;
        __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux)::"memory");
        return (struct stamp){.ticks = ((uint64_t)high << 32) | low, .cpu = aux & 0xfffU};
    }
#endif
    return clock_read_monotonic();
}

/* Reads clock_used and another clock together: of some tries the one whose two readings of clock_used were
 * closest. */
void clock_read_pair(clockid_t clock, uint64_t *ticks, uint64_t *ns);

/* Converts a duration in ticks to nanoseconds, rounding to the nearest; exact in 128 bits. */
int64_t clock_ns(int64_t ticks);

/* Keeps the CPU busy until `ns` of wall time have passed. */
void clock_spin(uint64_t ns);

struct clock_calibration {
    struct clock clock;
    double cost_ns;     /* one reading, mean over many */
    const char *reason; /* why this clock; static text */
};

/* Chooses the clock of this machine and measures its rate over `span_ns` and its cost. 0 or -errno. */
int clock_calibrate(uint64_t span_ns, struct clock_calibration *answer);

/* Mean cost of one reading of clock_used over `reads` readings, in ticks for all of them together. */
uint64_t clock_cost_ticks(unsigned reads);

/* Effective frequency of the CPU this task is on, in MHz: a chain of dependent multiplications (register to
 * register, 3 cycles each on every x86-64 core since 2008; 1-cycle exclusive-ors on arm64), the fastest of
 * some tries, since an interrupt can only lengthen one. 0 where no chain is known for this architecture. */
double clock_effective_mhz(void);

#endif
