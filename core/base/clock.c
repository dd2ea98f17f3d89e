#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"

#if CLOCK_HAS_TSC
#include <cpuid.h>
#endif

struct clock clock_used = {.kind = CLOCK_KIND_MONOTONIC, .hz = 1000000000U};

static uint64_t read_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

struct stamp clock_read_monotonic(void) {
    /* The time first: finding the CPU must not delay the stamp. */
    uint64_t ticks = read_ns(CLOCK_MONOTONIC);
    return (struct stamp){.ticks = ticks, .cpu = sys_cpu()};
}

int64_t clock_ns(int64_t ticks) {
    if (clock_used.kind == CLOCK_KIND_MONOTONIC) {
        return ticks;
    }
    __int128 scaled = (__int128)ticks * 1000000000;
    __int128 half = (__int128)(clock_used.hz / 2);
    return (int64_t)((scaled + (scaled < 0 ? -half : half)) / (__int128)clock_used.hz);
}

void clock_spin(uint64_t ns) {
    uint64_t ticks = (uint64_t)((unsigned __int128)ns * clock_used.hz / 1000000000U);
    uint64_t start = clock_read().ticks;
    while (clock_read().ticks - start < ticks) {
    }
}

#if CLOCK_HAS_TSC
/* The kernel itself runs on the TSC: its own watchdog found no skew between CPUs. */
static int kernel_trusts_tsc(void) {
    char text[32];
    long length =
        sys_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof text);
    return length >= 3 && strncmp(text, "tsc", 3) == 0;
}

static const char *tsc_refusal(void) {
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    if (!__get_cpuid(0x80000007U, &a, &b, &c, &d) || !(d & (1U << 8))) {
        return "the TSC is not invariant";
    }
    if (!__get_cpuid(0x80000001U, &a, &b, &c, &d) || !(d & (1U << 27))) {
        return "the processor has no rdtscp";
    }
    return kernel_trusts_tsc() ? NULL : "the kernel does not use the TSC as its clock source";
}
#else
static const char *tsc_refusal(void) {
    return "this architecture has no TSC";
}
#endif

void clock_read_pair(clockid_t clock, uint64_t *ticks, uint64_t *ns) {
    uint64_t best = UINT64_MAX;
    for (int attempt = 0; attempt < 50; attempt++) {
        uint64_t before = clock_read().ticks;
        uint64_t now = read_ns(clock);
        uint64_t after = clock_read().ticks;
        if (after - before < best) {
            best = after - before;
            *ticks = before + (after - before) / 2;
            *ns = now;
        }
    }
}

uint64_t clock_cost_ticks(unsigned reads) {
    uint64_t start = clock_read().ticks;
    for (unsigned i = 1; i < reads; i++) {
        (void)clock_read();
    }
    return clock_read().ticks - start;
}

int clock_calibrate(uint64_t span_ns, struct clock_calibration *answer) {
    const char *refusal = tsc_refusal();
    if (refusal == NULL) {
        clock_used = (struct clock){.kind = CLOCK_KIND_TSC, .hz = 1000000000U};
        uint64_t ticks[2];
        uint64_t raw_ns[2];
        clock_read_pair(CLOCK_MONOTONIC_RAW, &ticks[0], &raw_ns[0]);
        struct timespec pause = {.tv_sec = (time_t)(span_ns / 1000000000U),
                                 .tv_nsec = (long)(span_ns % 1000000000U)};
        while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {
        }
        clock_read_pair(CLOCK_MONOTONIC_RAW, &ticks[1], &raw_ns[1]);
        if (raw_ns[1] <= raw_ns[0] || ticks[1] <= ticks[0]) {
            return -ERANGE;
        }
        clock_used.hz =
            (uint64_t)((unsigned __int128)(ticks[1] - ticks[0]) * 1000000000U / (raw_ns[1] - raw_ns[0]));
        answer->reason = "invariant TSC, the kernel's own clock source";
    } else {
        clock_used = (struct clock){.kind = CLOCK_KIND_MONOTONIC, .hz = 1000000000U};
        answer->reason = refusal;
    }
    answer->clock = clock_used;
    enum { READS = 10000 };
    (void)clock_cost_ticks(READS);
    answer->cost_ns = (double)clock_ns((int64_t)clock_cost_ticks(READS)) / (double)READS;
    return 0;
}
