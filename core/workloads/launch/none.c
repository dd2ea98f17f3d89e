/* launch.none
 * Timed: the bare loop: all stamps of the parent with nothing between them. It is what every launch's figures
 * contain of the instrument itself.
 */
#include "workloads/launch/launch.h"

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    launch_call_returned(bench, sample);
    launch_reaped(sample);
    return 0;
}

static const struct null_reason NULLS[] = {
    {"task_runs_ns", "nothing is launched"}, {"image_runs_ns", "nothing is launched"}, {NULL, NULL}};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload launch_none = {
    .id = "launch.none",
    .family = "floor",
    .summary = "the measuring loop itself: all stamps, nothing launched",
    .answers.columns = LAUNCH_COLUMNS,
    .axes = AXES,
    ROWS_OF_LAUNCHES(launch_row),
    .answers.nulls = NULLS,
    .launch = launch,
};
