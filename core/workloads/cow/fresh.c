/* cow.fresh
 * Timed: the first write to each page of memory that was just mapped, one byte in each, and the same writes
 * once more: a plain minor fault, which nothing was copied for, and a write that needs no fault at all. It is
 * what cow.parent and cow.child stand beside. Outside: mapping and unmapping. Bias: the pages that come were
 * given back a moment ago. Source: mmap(2); mm/memory.c, do_anonymous_page; mm/huge_memory.c,
 * do_huge_pmd_anonymous_page, which fills 2 MiB with zeroes.
 */
#include "workloads/cow/cow.h"

static int launch(const struct bench *bench, struct sample *sample) {
    struct cow_times times = {.faults = 0};
    unsigned char *memory = NULL;
    int error = cow_memory_make(bench->request, false, &memory);
    if (error != 0) {
        return error;
    }
    cow_write(bench->request, memory, &times);
    cow_memory_drop(bench->request, memory);
    return cow_store(&times, sample);
}

static const char *const AXES[] = {AXES_MACHINE, "page_kind", "write_step", "written_bytes", NULL};

const struct workload cow_fresh = {
    .id = "cow.fresh",
    COW_FACTS,
    .summary = "the first write to each page of new memory: a plain minor fault",
    .axes = AXES,
    .prepare = cow_prepare,
    .launch = launch,
};
