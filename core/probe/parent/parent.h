/* The parent's condition: what fork's cost is made of. */
#ifndef CLONOMETER_PARENT_H
#define CLONOMETER_PARENT_H

#include <stddef.h>
#include <stdint.h>

#include "probe/limits/limits.h"
#include "probe/workload.h"

/* Whether the condition can be at all: to be asked before anything is computed of its sizes. 0, or -errno
 * with the reason. */
int parent_check(const struct request *request, struct reason *reason);

/* Bytes that the condition needs in memory which children do not inherit (bench->parent.shared). */
size_t parent_shared_bytes(const struct request *request);

/* What the condition asks of the machine. */
void parent_need(const struct request *request, struct limits_need *need);

/* Builds all that a checked request asks for, after asking the limits. 0, or -errno with the reason; then
 * nothing is left running. */
int parent_build(struct bench *bench, struct reason *reason);

/* Brings the memory into the state that `pages` names; outside every interval. 0 or -errno. */
int parent_before_launch(struct bench *bench);

/* Raises the limit of open files to so many beside the probe's own, if it is lower. 0, or -errno with the
 * reason. */
int parent_files_raise(int64_t files, struct reason *reason);

/* In a child: closes every descriptor from 3 up to the limit, but for `kept` (-1: all of them). */
void parent_close_files(const struct bench *bench, int kept);

/* Ends the parent's threads and joins them, and what thrashes its caches. */
void parent_end(struct bench *bench);

/* Hooks of the options: whether this machine has a value. 0, or -errno with the reason. */
int parent_page_kind_available(int64_t page_kind, struct reason *reason);
int parent_thread_state_available(int64_t state, struct reason *reason);
int parent_sched_class_available(int64_t sched_class, struct reason *reason);
int parent_close_files_available(int64_t how, struct reason *reason);

/* -1 where the kernel does not tell. */
struct parent_facts {
    int64_t vm_pte_bytes;
    int64_t rss_bytes;
    int64_t vmas;
    int64_t threads;
    int64_t open_files;
    int64_t anon_huge_bytes;
    int64_t hugetlb_bytes;
    int64_t anon_areas; /* those with anonymous memory, and how much; -1 too where there are many areas */
    int64_t anon_bytes;
};

/* Reads this process's page tables, memory, VMAs, threads and files through `scratch` (shared memory of ours,
 * so that reading does not grow what is measured). */
void parent_facts_read(struct parent_facts *facts, char *scratch, size_t capacity);

#endif
