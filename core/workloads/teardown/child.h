/* The child whose end is measured: a fork that has written memory of its own. */
#ifndef CLONOMETER_CHILD_H
#define CLONOMETER_CHILD_H

#include "probe/workload.h"

struct teardown_row {
    struct launch_row launch;
    uint64_t teardown;
};

/* What is the same in the table's rows of this family. */
#define TEARDOWN_FACTS                                                                                       \
    .family = "teardown", ROWS_OF_LAUNCHES(teardown_row), .answers.columns = TEARDOWN_COLUMNS,               \
    .axes = TEARDOWN_AXES, .prepare = child_prepare

extern const struct column TEARDOWN_COLUMNS[];
extern const char *const TEARDOWN_AXES[];

/* Asks the limits for a child with child_bytes. 0, or -errno with the reason. */
int child_prepare(struct bench *bench, struct reason *reason);

/* In the child: writes its memory and the stamp page, so that neither faults later. Ends the child with its
 * errno in the stamp page if that fails. */
void child_grow(const struct bench *bench);

#endif
