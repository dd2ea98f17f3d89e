/* Measures one cell: the cold launch, the warm-up, the blocks; keeps everything in shared memory until the
 * end. */
#ifndef CLONOMETER_MEASURE_H
#define CLONOMETER_MEASURE_H

#include <stdint.h>

#include "base/sys.h"
#include "probe/parent/parent.h"
#include "probe/rows.h"
#include "probe/samples.h"
#include "probe/workload.h"

enum { MEASURE_MOST_CPUS = 8 };

struct block {
    const char *temperature; /* NULL where the workload has none */
    struct sample *samples;
    int64_t rows;
    uint64_t start_ticks; /* the zero of start_ns */
    int64_t wall_ns;      /* CLOCK_MONOTONIC */
    struct usage usage;
    struct parent_facts parent;
    int cpus; /* how many of the following are filled */
    int32_t cpu[MEASURE_MOST_CPUS];
    double effective_mhz[MEASURE_MOST_CPUS];
};

struct measurement {
    struct bench bench;
    struct arena arena;
    bool children_stamp; /* whether children need the stamp pages */
    struct crew *crew;   /* NULL: a single launcher, this task */
    struct block *blocks;
    int64_t block_count; /* finished blocks */
    char *scratch;       /* shared memory for texts */
    size_t scratch_bytes;
    struct sys_cpus *allowed; /* the affinity while measuring */
};

/* Fills a zeroed measurement: maps all memory, sets clock and placement, builds the condition. 0, or -errno
 * with the reason. */
int measure_prepare(struct measurement *measurement, const struct request *request, struct reason *reason);

/* Measures all blocks. 0, or -errno with the reason. */
int measure_run(struct measurement *measurement, struct reason *reason);

#endif
