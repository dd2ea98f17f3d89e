/* clock.used
 * Timed: OPERATIONS_EACH consecutive readings of the clock that stamps launches, the two framing ones
 * included.
 */
#include "base/clock.h"
#include "probe/workload.h"

static int launch(const struct bench *bench, struct sample *sample) {
    (void)bench;
    sample->cpu_before = (int32_t)clock_read().cpu;
    ((struct timed_row *)(void *)sample)->ticks = clock_cost_ticks(OPERATIONS_EACH);
    return 0;
}

static const struct column COLUMNS[] = {
    {"cost_ns", COLUMN_EACH, offsetof(struct timed_row, ticks), NULL, "cost of one operation"},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload clock_used_workload = {
    .id = "clock.used",
    .family = "floor",
    .summary = "one reading of the clock that stamps launches",
    .answers.columns = COLUMNS,
    .axes = AXES,
    ROWS_OF(timed_row),
    .launch = launch,
};
