/* The parent's memory: what fork's cost is made of. */
#ifndef CLONOMETER_PARENT_H
#define CLONOMETER_PARENT_H

#include <stdint.h>

#include "workload.h"

/* Builds the memory that the request asks for, after asking the limits. 0, or -errno with the reason. */
int parent_build(struct bench *bench, struct reason *reason);

/* Brings the memory into the state that `pages` names; outside every interval. 0 or -errno. */
int parent_before_launch(struct bench *bench);

struct parent_facts {
    int64_t vm_pte_bytes;
    int64_t rss_bytes;
    int64_t vmas;
};

/* Reads this process's page tables, resident set and VMAs through `scratch` (shared memory of ours, so that
 * reading does not grow what is measured). */
void parent_facts_read(struct parent_facts *facts, char *scratch, size_t capacity);

#endif
