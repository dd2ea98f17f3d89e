/* The state of the processor's caches at each launch: hot from the launch before, or cold, as a server has
 * them that forks now and then. Launches in a row find what they need in the caches: 224 MiB cost a fork 37
 * ns a page then, and 69 after the parent had slept for 100 ms.
 *
 * caches=idle: the parent sleeps for idle_ns before each launch. caches=thrashed: another task walks memory
 * of its own, thrash_bytes, and is asleep again before the launch. That task is a program of its own, started
 * before the parent's condition is built: a mere fork would share the parent's pages for as long as it lives,
 * and so change what is measured. It meets the parent in the arena, so that the parent has not one page, VMA
 * or descriptor more. */
#ifndef CLONOMETER_CACHES_H
#define CLONOMETER_CACHES_H

#include <stddef.h>
#include <stdint.h>

#include "probe/limits/limits.h"
#include "probe/workload.h"

#define CACHES_WALKER_WORD "--walk"

/* Bytes of the arena that the parent and the walking task meet in; 0 where nobody walks. */
size_t caches_shared_bytes(const struct request *request);

/* Adds the walking task and its memory to what the machine is asked for. */
void caches_need(const struct request *request, struct limits_need *need);

/* Starts the task that walks, if one is asked for; bench->walker lies in the arena. 0, or -errno with the
 * reason; then none is left. */
int caches_build(struct bench *bench, struct reason *reason);

/* Makes the caches cold where that is asked for; outside every interval, after all that warms them. 0 or
 * -errno. */
int caches_before_launch(const struct bench *bench);

/* Ends the task that walks. */
void caches_end(struct bench *bench);

/* That task's whole life, called by main: `where` says in which memory file it meets the parent. Its exit
 * status. */
int caches_walk_main(const char *where);

#endif
