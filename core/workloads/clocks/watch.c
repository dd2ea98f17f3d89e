#include <math.h>

#include "base/clock.h"
#include "workloads/clocks/clocks.h"

const struct column CLOCK_COLUMNS[] = {
    {"cost_ns", COLUMN_EACH, offsetof(struct clock_row, cost), NULL, "cost of one operation"},
    {"step_ns", COLUMN_REAL_NS, offsetof(struct clock_row, step_ns), NULL,
     "the smallest step above zero between two readings in a row"},
    {"stated_resolution_ns", COLUMN_NS, offsetof(struct clock_row, stated_resolution_ns), NULL,
     "what clock_getres says"},
    {"backward_steps", COLUMN_COUNT, offsetof(struct clock_row, backward_steps), NULL,
     "readings that are earlier than the one before"},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

void clock_watch_start(struct clock_watch *watch, int64_t reading) {
    *watch = (struct clock_watch){.last = reading};
}

void clock_watch_see(struct clock_watch *watch, int64_t reading) {
    int64_t step = reading - watch->last;
    watch->last = reading;
    if (step < 0) {
        watch->backward_steps++;
    } else if (step > 0 && (watch->smallest_step == 0 || step < watch->smallest_step)) {
        watch->smallest_step = step;
    }
}

void clock_fill(struct clock_row *row, double step_ns, int64_t stated_ns, int64_t backward_steps) {
    row->step_ns = step_ns > 0 ? step_ns : (double)NAN;
    row->stated_resolution_ns = stated_ns;
    row->backward_steps = backward_steps;
    row->sample.cpu_before = (int32_t)clock_read().cpu;
}
