/* contend.fault
 * Timed: as contend.h says; the operation is the first write to a page of anonymous memory, which the kernel
 * has to find, clear and map. A batch writes 128 small pages and gives them back with one
 * madvise(MADV_DONTNEED), a 128th of which is part of each operation: it waits for mmap_lock as reader, and
 * where threads of the same process run on other CPUs it has to flush their TLBs too.
 * Threads fault in one address space (VMA locks, or mmap_lock before Linux 6.4; page-table locks; one set of
 * counters), each in a VMA of its own with an unmapped page beside it, since neighbours would be merged.
 * Processes fault each in its own. Both share the machine's free pages and the memory cgroup's counter.
 * Source: will-it-scale page_fault1; mm/memory.c.
 */
#include <errno.h>
#include <sys/mman.h>

#include "probe/parent/parts.h"
#include "workloads/contend/contend.h"

enum { PAGES = 128 };

static size_t page_bytes(void) {
    return (size_t)parent_small_page_bytes();
}

static int open_area(struct contend_worker *worker) {
    unsigned char *area =
        mmap(NULL, (PAGES + 2) * page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        return -errno;
    }
    worker->memory = area;
    area += page_bytes();
    if (mprotect(area, PAGES * page_bytes(), PROT_READ | PROT_WRITE) != 0) {
        return -errno;
    }
    /* Where the kernel has no huge pages there is nothing to refuse. */
    (void)madvise(area, PAGES * page_bytes(), MADV_NOHUGEPAGE);
    return 0;
}

static int batch(struct contend_worker *worker) {
    size_t page = page_bytes();
    volatile unsigned char *area = (unsigned char *)worker->memory + page;
    for (size_t i = 0; i < PAGES; i++) {
        area[i * page] = 1;
    }
    return madvise((void *)area, PAGES * page_bytes(), MADV_DONTNEED) != 0 ? -errno : 0;
}

static void close_area(struct contend_worker *worker) {
    munmap(worker->memory, (PAGES + 2) * page_bytes());
}

static const struct contend_ways WAYS = {
    .operations = PAGES, .pages = PAGES, .open = open_area, .batch = batch, .close = close_area};

static int prepare(struct bench *bench, struct reason *reason) {
    return contend_start(bench, &WAYS, reason);
}

static const char *const AXES[] = {AXES_CONTEND, NULL};

const struct workload contend_fault = {
    .id = "contend.fault",
    CONTEND_FACTS,
    .summary = "workers write to new pages of anonymous memory at the same time",
    .axes = AXES,
    .prepare = prepare,
};
