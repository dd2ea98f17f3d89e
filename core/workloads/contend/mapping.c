/* contend.mmap
 * Timed: as contend.h says; the operation is one mmap of 64 KiB of anonymous memory and its munmap, and with
 * vma_kind=touched a write to its first page between the two, so that there are page tables and a TLB entry
 * to take down (on every CPU where a thread of the process runs). Threads take one mmap_lock for writing and
 * change one tree of VMAs; processes each their own.
 * Source: will-it-scale mmap1, mmap2; mm/mmap.c.
 */
#include <errno.h>
#include <sys/mman.h>

#include "workloads/contend/contend.h"

enum { MAPPED_BYTES = 64 << 10, OPERATIONS = 4 };

static int map_once(bool touch) {
    unsigned char *area =
        mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        return -errno;
    }
    if (touch) {
        *(volatile unsigned char *)area = 1;
    }
    return munmap(area, MAPPED_BYTES) != 0 ? -errno : 0;
}

static int batch(struct contend_worker *worker) {
    bool touch = worker->contend->bench->request->vma_kind == VMA_TOUCHED;
    int error = 0;
    for (int i = 0; error == 0 && i < OPERATIONS; i++) {
        error = map_once(touch);
    }
    return error;
}

static const struct contend_ways WAYS = {
    .operations = OPERATIONS, .worker_bytes = MAPPED_BYTES, .batch = batch};

static int check(const struct request *request, struct reason *reason) {
    return request->vma_kind != VMA_DONTFORK
               ? 0
               : reason_set(
                     reason, -EOPNOTSUPP,
                     "vma_kind=dontfork is about a parent's memory areas; contend.mmap forks nobody: ask for "
                     "untouched or touched");
}

static int prepare(struct bench *bench, struct reason *reason) {
    return contend_start(bench, &WAYS, reason);
}

static const char *const AXES[] = {AXES_CONTEND, "vma_kind", NULL};

const struct workload contend_mmap = {
    .id = "contend.mmap",
    CONTEND_FACTS,
    .summary = "workers map and unmap memory at the same time",
    .axes = AXES,
    .needs.check = check,
    .prepare = prepare,
};
