/* launch.stamp
 * Timed: inside a forked child, the first stamp: reading the clock and sending it to the parent.
 * It is what stages=all adds to a fork's reaped.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

struct stamp_row {
    struct launch_row launch;
    uint64_t stamp;
};

static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t start = clock_read().ticks;
        launch_task_runs(bench);
        uint64_t ticks = clock_read().ticks - start;
        launch_put(bench, offsetof(struct stamps, extra_ticks), &ticks, sizeof ticks);
        _exit(0);
    }
    int error = pid < 0 ? -errno : launch_reap(bench, pid, sample);
    ((struct stamp_row *)(void *)sample)->stamp = bench->stamps->extra_ticks;
    return error;
}

static const struct column COLUMNS[] = {
    {"stamp_ns", COLUMN_DURATION, offsetof(struct stamp_row, stamp), NULL,
     "the forked child's stamp: reading the clock, sending it to the parent"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload launch_stamp = {
    .id = "launch.stamp",
    .family = "floor",
    .summary = "the cost of the child's stamp inside a forked child",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .has_temperature = true,
    ROWS_OF_LAUNCHES(stamp_row),
    .task.copies_memory = true,
    .launch = launch,
};
