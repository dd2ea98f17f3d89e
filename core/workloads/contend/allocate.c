/* contend.malloc
 * Timed: as contend.h says; the operation is one free of the block that was allocated 64 operations before,
 * one malloc of allocation_bytes and a write to the block. Threads share the C library's allocator, processes
 * do not. What they share of it differs: glibc keeps blocks of up to 1,032 bytes in a cache of each thread
 * and gives each thread one of 8 arenas a CPU, so that its threads hardly meet; musl has one lock for all
 * (linkage=musl), and takes it only once the process has a second thread, as glibc does with its arenas'.
 * That single-threaded processes go without atomic instructions is a part of what not sharing saves.
 * Bias: blocks are freed by who allocated them, in the order of allocation: the kindest case. From 128 KiB on
 * glibc maps each block by itself (until the first is freed, which raises that threshold).
 * Source: malloc(3), mallopt(3); malloc/malloc.c of glibc; src/malloc of musl.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "workloads/contend/contend.h"

enum { HELD = 64, OPERATIONS = 128, MOST_BLOCK_BYTES = 64 << 20 };

static int open_blocks(struct contend_worker *worker) {
    worker->memory = calloc(HELD, sizeof(void *));
    return worker->memory != NULL ? 0 : -ENOMEM;
}

static int batch(struct contend_worker *worker) {
    volatile unsigned char **blocks = worker->memory;
    size_t bytes = (size_t)worker->contend->bench->request->allocation_bytes;
    for (int i = 0; i < OPERATIONS; i++) {
        int place = i % HELD;
        free((void *)blocks[place]);
        blocks[place] = malloc(bytes);
        if (blocks[place] == NULL) {
            return -ENOMEM;
        }
        blocks[place][0] = 1;
    }
    return 0;
}

static void close_blocks(struct contend_worker *worker) {
    void **blocks = worker->memory;
    for (int i = 0; i < HELD; i++) {
        free(blocks[i]);
    }
    free((void *)blocks);
}

static const struct contend_ways WAYS = {
    .operations = OPERATIONS, .blocks = HELD, .open = open_blocks, .batch = batch, .close = close_blocks};

static int prepare(struct bench *bench, struct reason *reason) {
    int64_t bytes = bench->request->allocation_bytes;
    if (bytes > MOST_BLOCK_BYTES) {
        return reason_set(reason, -ENOMEM, "allocation_bytes=%" PRId64 ": at most %d", bytes,
                          MOST_BLOCK_BYTES);
    }
    return contend_start(bench, &WAYS, reason);
}

static const char *const AXES[] = {AXES_CONTEND, "allocation_bytes", NULL};

const struct workload contend_malloc = {
    .id = "contend.malloc",
    CONTEND_FACTS,
    .summary = "workers allocate and free memory at the same time",
    .axes = AXES,
    .prepare = prepare,
};
