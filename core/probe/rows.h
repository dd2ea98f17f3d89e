/* Rows of samples: launch after launch by one launcher. */
#ifndef CLONOMETER_ROWS_H
#define CLONOMETER_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "probe/workload.h"

int64_t rows_monotonic_ns(void);

/* What a block may last where its launches are so slow that it would otherwise have no end in sight: it ends
 * with the launch that reaches this, and is the process's last. Only where block_limit_ns limits blocks at
 * all. */
#define ROWS_SLOW_BLOCK_NS 1000000000

/* The row at `index`. */
struct sample *rows_at(const struct workload *workload, struct sample *first, int64_t index);

/* How many rows a launch of the request's workload fills. */
int64_t rows_each(const struct request *request);

/* Opens the eventfd by which tasks with their own copy of the memory send their first stamp. Where there can
 * be none, they go on writing it to the stamp page's file. */
void rows_open_event(struct bench *bench);

/* One launch of the workload into its zeroed rows, the parent's memory brought into its state before. 0, or
 * -errno if that state cannot be had; a launch that fails is noted in the sample. */
int rows_launch(struct bench *bench, const struct workload *workload, struct sample *sample);

/* Launches whose samples are thrown away; `limited`: no longer than a block may last. 0 or -errno. */
int rows_forget(struct bench *bench, const struct workload *workload, int64_t launches, bool limited,
                struct sample *scrap);

/* At most `most` launches of the request's workload; how many rows they fill is written to `rows`. 0 or
 * -errno. */
int rows_measure(struct bench *bench, struct sample *samples, int64_t most, int64_t *rows);

/* getrusage's counts, of a process and of the children it has reaped. */
struct usage {
    int64_t minor_faults;
    int64_t major_faults;
    int64_t voluntary_switches;
    int64_t involuntary_switches;
    int64_t self_cpu_ns;
    int64_t children_cpu_ns;
    int64_t self_system_ns; /* the kernel's part of self_cpu_ns */
    int64_t children_system_ns;
};

/* This process's counts so far. */
void usage_read(struct usage *usage);

/* Adds to `sum` what was counted from `before` to `after`. */
void usage_add(struct usage *sum, const struct usage *before, const struct usage *after);

#endif
