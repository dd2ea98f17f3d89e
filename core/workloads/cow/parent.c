/* cow.parent
 * Timed: after a fork, the parent's first write to each page of written_bytes, one byte in each, and the same
 * writes once more. While the child lives the page is shared and each write copies it; after the child has
 * gone the parent has it alone and only its protection is lifted. Outside: mapping the memory and writing it
 * twice, the fork, waiting until the child sleeps or has been reaped. Bias: the pages follow each other, so
 * that the kernel's caches are as warm as they ever are; the copies land in memory that was used a moment
 * ago, which in a virtual machine is cheaper than memory that the host has yet to give. A huge page is split
 * by the first write while the child lives, and only 4 KiB of it are copied; after the child has gone it is
 * kept whole, unless somebody else in the kernel holds a reference to it (split_pages counts those). Kept
 * whole, it takes one fault, and one more for each part that the processor remembers as read-only. Source:
 * fork(2); mm/memory.c, do_wp_page and wp_can_reuse_anon_folio; mm/huge_memory.c, do_huge_pmd_wp_page.
 */
#include <errno.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/cow/cow.h"
#include "workloads/wake/asleep.h"

static int write_beside(const struct request *request, unsigned char *memory, struct cow_times *times) {
    int status = 0;
    pid_t probe = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        if (request->other_process == OTHER_GONE) {
            _exit(0);
        }
        cow_sleep(probe);
    }
    if (pid < 0) {
        return -errno;
    }
    if (request->other_process == OTHER_GONE) {
        int error = sys_wait(pid, &status);
        cow_write(request, memory, times);
        return error;
    }
    int error = asleep_wait(pid, pid);
    cow_write(request, memory, times);
    int wait_error = cow_kill(pid);
    return error != 0 ? error : wait_error;
}

static int launch(const struct bench *bench, struct sample *sample) {
    const struct request *request = bench->request;
    struct cow_times times = {.faults = 0};
    unsigned char *memory = NULL;
    int error = cow_memory_make(request, true, &memory);
    if (error != 0) {
        return error;
    }
    error = write_beside(request, memory, &times);
    cow_memory_drop(request, memory);
    int written = cow_store(&times, sample);
    return error != 0 ? error : written;
}

const struct workload cow_parent = {
    .id = "cow.parent",
    COW_FACTS,
    .summary = "after a fork, the parent's first write to each page",
    .axes = COW_AXES,
    .prepare = cow_prepare,
    .launch = launch,
};
