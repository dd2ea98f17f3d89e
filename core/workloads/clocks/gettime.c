/* clock.realtime, clock.monotonic, clock.monotonic_raw, clock.boottime, clock.realtime_coarse,
 * clock.process_cputime, clock.thread_cputime
 * Timed: OPERATIONS_EACH calls of clock_gettime() in a row, between two readings of the clock that stamps
 * launches; path=vdso calls the C library's function, path=syscall enters the kernel each time. Outside: the
 * watch over steps, which looks at further readings after the timed ones.
 * Bias: the loop and the framing readings belong to the cost, together below 1% of a call. The C library asks
 * the vDSO for the CPU-time clocks too, which passes them on to the kernel: their vdso cost is a system
 * call's and a little more. A step is bounded below by the cost of a reading, so it is the clock's resolution
 * only where that is coarser. Source: clock_gettime(2), vdso(7); lib/vdso/gettimeofday.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/clock.h"
#include "base/sys.h"
#include "workloads/clocks/clocks.h"

/* No kernel ticks slower than 100 Hz, but a task that lost its CPU meanwhile has seen nothing. */
enum { PATIENCE_NS = 1000000000 };

static int64_t ns_of(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t read_clock(clockid_t id, bool kernel) {
    struct timespec now = {0, 0};
    if (kernel) {
        sys_clock_gettime(id, &now);
    } else {
        clock_gettime(id, &now);
    }
    return ns_of(now);
}

/* The two paths stand apart, so that no choice between them is timed. */
static uint64_t cost_ticks(clockid_t id, bool kernel) {
    struct timespec now;
    uint64_t start = clock_read().ticks;
    if (kernel) {
        for (int i = 0; i < OPERATIONS_EACH; i++) {
            sys_clock_gettime(id, &now);
        }
    } else {
        for (int i = 0; i < OPERATIONS_EACH; i++) {
            clock_gettime(id, &now);
        }
    }
    return clock_read().ticks - start;
}

/* As many readings as are timed, and more until a coarse clock has made a step. */
static void watch_clock(struct clock_watch *watch, clockid_t id, bool kernel) {
    clock_watch_start(watch, read_clock(id, kernel));
    int64_t end_ns = read_clock(CLOCK_MONOTONIC, false) + PATIENCE_NS;
    for (int i = 0;
         i < OPERATIONS_EACH || (watch->smallest_step == 0 && read_clock(CLOCK_MONOTONIC, false) < end_ns);
         i++) {
        clock_watch_see(watch, read_clock(id, kernel));
    }
}

static int measure(const struct bench *bench, struct sample *sample, clockid_t id) {
    struct clock_row *row = (struct clock_row *)(void *)sample;
    bool kernel = bench->request->path == CLOCK_PATH_SYSCALL;
    struct clock_watch watch;
    struct timespec stated;
    row->cost = cost_ticks(id, kernel);
    watch_clock(&watch, id, kernel);
    int64_t stated_ns = clock_getres(id, &stated) == 0 ? ns_of(stated) : INT64_MIN;
    clock_fill(row, (double)watch.smallest_step, stated_ns, watch.backward_steps);
    return 0;
}

static int has_clock(clockid_t id, struct reason *reason) {
    struct timespec now;
    int error = sys_clock_gettime(id, &now);
    return error != 0 ? reason_set(reason, error, "this kernel does not have the clock: %s", strerror(-error))
                      : 0;
}

int clock_path_available(int64_t path, struct reason *reason) {
    if (path == CLOCK_PATH_VDSO && getauxval(AT_SYSINFO_EHDR) == 0) {
        return reason_set(reason, -ENOSYS, "the kernel maps no vDSO into this process");
    }
    return 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    return clock_path_available(bench->request->path, reason);
}

static const char *const AXES[] = {AXES_MACHINE, "path", NULL};

/* One workload for each clock: its functions know only which. */
#define GETTIME(name, clock_id, text)                                                                        \
    static int launch_##name(const struct bench *bench, struct sample *sample) {                             \
        return measure(bench, sample, clock_id);                                                             \
    }                                                                                                        \
    static int available_##name(struct reason *reason) {                                                     \
        return has_clock(clock_id, reason);                                                                  \
    }                                                                                                        \
    const struct workload clock_##name = {                                                                   \
        .id = "clock." #name,                                                                                \
        .family = "clock",                                                                                   \
        .summary = "one clock_gettime(" #clock_id "): " text,                                                \
        .answers.columns = CLOCK_COLUMNS,                                                                    \
        .axes = AXES,                                                                                        \
        ROWS_OF(clock_row),                                                                                  \
        .needs.available = available_##name,                                                                 \
        .prepare = prepare,                                                                                  \
        .launch = launch_##name,                                                                             \
    }

GETTIME(realtime, CLOCK_REALTIME, "the time of day, which may be set");
GETTIME(monotonic, CLOCK_MONOTONIC, "time since boot, its rate steered by NTP");
GETTIME(monotonic_raw, CLOCK_MONOTONIC_RAW, "time since boot, as the hardware counts it");
GETTIME(boottime, CLOCK_BOOTTIME, "time since boot, sleep included");
GETTIME(realtime_coarse, CLOCK_REALTIME_COARSE, "the time of day at the last tick");
GETTIME(process_cputime, CLOCK_PROCESS_CPUTIME_ID, "CPU time of this process");
GETTIME(thread_cputime, CLOCK_THREAD_CPUTIME_ID, "CPU time of this thread");
