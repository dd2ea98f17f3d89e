/* Several launchers at once: threads of this process, or processes of their own. The starting task only gives
 * orders and sleeps; the launchers do all the launching, each with its own stamps and samples. */
#ifndef CLONOMETER_CREW_H
#define CLONOMETER_CREW_H

#include <stddef.h>
#include <stdint.h>

#include "probe/measure.h"

struct crew;

/* Bytes of the arena that a crew needs; 0 for a single launcher, which needs no crew. */
size_t crew_bytes(const struct request *request);

/* Asks the limits for what all launchers need together, then starts them in zeroed shared memory. They build
 * the parent's condition (as threads once, as processes each its own) and wait. 0, or -errno with the reason;
 * then none is left. */
int crew_start(struct crew *crew, struct measurement *measurement, struct reason *reason);

/* Each makes launches that are thrown away. 0, or -errno with the reason. */
int crew_forget(struct crew *crew, const struct workload *workload, int64_t launches, bool limited,
                struct reason *reason);

/* Each makes at most `rows` launches, all beginning together; who is done goes on launching, unrecorded,
 * until all are, so that each sample has met the same company. Fills the block's samples, rows, times and
 * counts. 0, or -errno with the reason. */
int crew_measure(struct crew *crew, struct block *block, int64_t rows, struct reason *reason);

/* Ends the launchers and waits for them. */
void crew_end(struct crew *crew);

#endif
