/* Clocks as workloads: what one reading costs, how fine it is, whether it goes back. */
#ifndef CLONOMETER_CLOCKS_H
#define CLONOMETER_CLOCKS_H

#include "probe/workload.h"

struct clock_row {
    struct sample sample;
    uint64_t cost; /* ticks of all operations together */
    double step_ns;
    int64_t stated_resolution_ns;
    int64_t backward_steps;
};

extern const struct column CLOCK_COLUMNS[];

/* Watches successive readings for their smallest step above zero and for steps back. Starts zeroed. */
struct clock_watch {
    int64_t smallest_step; /* 0: none seen yet */
    int64_t backward_steps;
    int64_t last;
};

void clock_watch_start(struct clock_watch *watch, int64_t reading);
void clock_watch_see(struct clock_watch *watch, int64_t reading);

/* Fills the row of a clock but for its cost. Null is 0 for `step_ns` and INT64_MIN for `stated_ns`. */
void clock_fill(struct clock_row *row, double step_ns, int64_t stated_ns, int64_t backward_steps);

/* Whether this machine has a value of the axis `path`. 0, or -errno with the reason. */
int clock_path_available(int64_t path, struct reason *reason);

#endif
