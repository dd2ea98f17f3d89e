/* clock.rdtsc, clock.rdtscp
 * Timed: OPERATIONS_EACH readings of the time-stamp counter in a row, between two readings of the clock that
 * stamps launches. rdtsc may run before earlier instructions have ended, rdtscp waits for them. Outside: the
 * watch over steps.
 * Bias: no fence stands between the readings, so this is their throughput, less than the ordered reading
 * that stamps launches (clock.used). A step is one reading's cost, not the counter's own tick.
 * Source: Intel SDM vol. 2B, RDTSC and RDTSCP; AMD APM vol. 3.
 */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "workloads/clocks/clocks.h"

#if CLOCK_HAS_TSC

#include <cpuid.h>

static inline uint64_t rdtsc(void) {
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return ((uint64_t)high << 32) | low;
}

static inline uint64_t rdtscp(void) {
    uint32_t low;
    uint32_t high;
    uint32_t aux;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
    return ((uint64_t)high << 32) | low;
}

static int available_tsc(struct reason *reason) {
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(d & (1U << 4))) {
        return reason_set(reason, -ENOSYS, "this processor has no time-stamp counter");
    }
    return 0;
}

static int available_rdtscp(struct reason *reason) {
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    if (!__get_cpuid(0x80000001U, &a, &b, &c, &d) || !(d & (1U << 27))) {
        return reason_set(reason, -ENOSYS, "this processor has no rdtscp");
    }
    return 0;
}

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Where another clock stamps launches, nobody has told the counter's rate: it is taken over a span long
 * enough for three digits, awake, since a counter that is not invariant may stop in sleep. */
static double ns_per_tick(void) {
    enum { SPAN_NS = 200000 };
    if (clock_used.kind == CLOCK_KIND_TSC) {
        return 1e9 / (double)clock_used.hz;
    }
    int64_t start_ns = monotonic_ns();
    uint64_t start = rdtsc();
    int64_t now_ns = start_ns;
    while (now_ns - start_ns < SPAN_NS) {
        now_ns = monotonic_ns();
    }
    return (double)(now_ns - start_ns) / (double)(rdtsc() - start);
}

static void finish_row(struct clock_row *row, const struct clock_watch *watch) {
    /* Of a counter that a hypervisor scales two readings may differ by one tick: less than a nanosecond. */
    double step_ns = (double)watch->smallest_step * ns_per_tick();
    clock_fill(row, step_ns, INT64_MIN, watch->backward_steps);
}

#define MEASURE(instruction)                                                                                 \
    static int launch_##instruction(const struct bench *bench, struct sample *sample) {                      \
        (void)bench;                                                                                         \
        struct clock_row *row = (struct clock_row *)(void *)sample;                                          \
        struct clock_watch watch;                                                                            \
        uint64_t start = clock_read().ticks;                                                                 \
        for (int i = 0; i < OPERATIONS_EACH; i++) {                                                          \
            (void)instruction();                                                                             \
        }                                                                                                    \
        row->cost = clock_read().ticks - start;                                                              \
        clock_watch_start(&watch, (int64_t)instruction());                                                   \
        for (int i = 0; i < OPERATIONS_EACH; i++) {                                                          \
            clock_watch_see(&watch, (int64_t)instruction());                                                 \
        }                                                                                                    \
        finish_row(row, &watch);                                                                             \
        return 0;                                                                                            \
    }

MEASURE(rdtsc)
MEASURE(rdtscp)

#else

static int available_tsc(struct reason *reason) {
    return reason_set(reason, -ENOSYS, "this architecture has no time-stamp counter");
}

static int available_rdtscp(struct reason *reason) {
    return available_tsc(reason);
}

static int launch_rdtsc(const struct bench *bench, struct sample *sample) {
    (void)bench;
    (void)sample;
    return -ENOSYS;
}

static int launch_rdtscp(const struct bench *bench, struct sample *sample) {
    return launch_rdtsc(bench, sample);
}

#endif

static const struct null_reason NULLS[] = {
    {"stated_resolution_ns", "the counter is not a clock of the kernel, so nothing states its resolution"},
    {NULL, NULL}};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload clock_rdtsc = {
    .id = "clock.rdtsc",
    .family = "clock",
    .summary = "one rdtsc: the processor's counter, not ordered with other instructions",
    .answers.columns = CLOCK_COLUMNS,
    .axes = AXES,
    ROWS_OF(clock_row),
    .answers.nulls = NULLS,
    .needs.available = available_tsc,
    .launch = launch_rdtsc,
};

const struct workload clock_rdtscp = {
    .id = "clock.rdtscp",
    .family = "clock",
    .summary = "one rdtscp: the processor's counter after all earlier instructions, and the CPU's number",
    .answers.columns = CLOCK_COLUMNS,
    .axes = AXES,
    ROWS_OF(clock_row),
    .answers.nulls = NULLS,
    .needs.available = available_rdtscp,
    .launch = launch_rdtscp,
};
