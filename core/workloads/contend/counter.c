/* contend.counter
 * Timed: as contend.h says; the operation is one atomic addition of 1 (sequentially consistent: a locked
 * instruction on x86-64) to a counter of 8 bytes in memory that processes share too. counter_layout says
 * where the workers' counters lie: padded, each 128 bytes from the next, so that no two are on a cache line;
 * packed, each worker's own but side by side, eight to a line, which is false sharing; one, a single counter
 * for all. Between threads and processes nothing differs here but the page tables: the cache lines do not
 * know of either. Bias: a batch is 1,000 additions without anything between them, the most contention there
 * can be. Source: Documentation/kernel-hacking/false-sharing.rst of Linux.
 */
#include "workloads/contend/contend.h"

enum { OPERATIONS = 1000 };

static int open_counter(struct contend_worker *worker) {
    static const int64_t STRIDES[] = {
        [COUNTER_PADDED] = CONTEND_APART_BYTES, [COUNTER_PACKED] = sizeof(uint64_t), [COUNTER_ONE] = 0};
    const struct contend *contend = worker->contend;
    int64_t stride = STRIDES[contend->bench->request->counter_layout];
    worker->counter = (uint64_t *)(void *)(contend->counters + worker->number * stride);
    return 0;
}

static int batch(struct contend_worker *worker) {
    uint64_t *counter = worker->counter;
    for (int i = 0; i < OPERATIONS; i++) {
        __atomic_add_fetch(counter, 1U, __ATOMIC_SEQ_CST);
    }
    return 0;
}

static const struct contend_ways WAYS = {.operations = OPERATIONS, .open = open_counter, .batch = batch};

static int prepare(struct bench *bench, struct reason *reason) {
    return contend_start(bench, &WAYS, reason);
}

static const char *const AXES[] = {AXES_CONTEND, "counter_layout", NULL};

const struct workload contend_counter = {
    .id = "contend.counter",
    CONTEND_FACTS,
    .summary = "workers add to counters in shared memory at the same time",
    .axes = AXES,
    .prepare = prepare,
};
