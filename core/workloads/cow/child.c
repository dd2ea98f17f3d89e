/* cow.child
 * Timed: after a fork, the child's first write to each page of written_bytes, one byte in each, and the same
 * writes once more: copies while its parent lives; after the parent has gone the child has the pages alone.
 * Outside: a process between the probe and the writer, which maps the memory, writes it twice and forks;
 * waiting until it has gone, when the writer has become the probe's own child. Bias: as cow.parent. Source:
 * fork(2), PR_SET_CHILD_SUBREAPER(2const); mm/memory.c, do_wp_page and wp_can_reuse_anon_folio;
 * kernel/exit.c, where exit_mm comes before children are given away.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/cow/cow.h"

enum { LOOK_NS = 20000 };

__attribute__((noreturn)) static void fail(struct cow_page *page, int error) {
    page->times.error = error;
    _exit(1);
}

/* Waits until its parent has gone and it belongs to the probe; whoever else it belonged to, the probe would
 * have gone too. */
static void await_inheritance(pid_t parent, pid_t probe) {
    struct timespec pause_time = {.tv_nsec = LOOK_NS};
    for (pid_t now = getppid(); now != probe; now = getppid()) {
        if (now != parent) {
            _exit(1);
        }
        nanosleep(&pause_time, NULL);
    }
}

__attribute__((noreturn)) static void write_and_leave(const struct bench *bench, unsigned char *memory,
                                                      pid_t parent, pid_t probe) {
    struct cow_page *page = cow_page(bench);
    bool gone = bench->request->other_process == OTHER_GONE;
    if (gone) {
        await_inheritance(parent, probe);
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != (gone ? probe : parent)) {
        fail(page, ESRCH);
    }
    cow_write(bench->request, memory, &page->times);
    _exit(0);
}

/* The process whose memory it is. */
__attribute__((noreturn)) static void own_and_fork(const struct bench *bench, pid_t probe) {
    struct cow_page *page = cow_page(bench);
    unsigned char *memory = NULL;
    int status = 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != probe) {
        _exit(1);
    }
    int error = cow_memory_make(bench->request, true, &memory);
    if (error != 0) {
        fail(page, -error);
    }
    pid_t owner = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        write_and_leave(bench, memory, owner, probe);
    }
    if (pid < 0) {
        fail(page, errno);
    }
    page->writer = pid;
    if (bench->request->other_process == OTHER_ALIVE && sys_wait(pid, &status) != 0) {
        fail(page, ECHILD);
    }
    _exit(0);
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct cow_page *page = cow_page(bench);
    int status = 0;
    memset(&page->times, 0, sizeof page->times);
    page->writer = 0;
    pid_t probe = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        own_and_fork(bench, probe);
    }
    if (pid < 0) {
        return -errno;
    }
    int error = sys_wait(pid, &status);
    if (page->writer > 0 && bench->request->other_process == OTHER_GONE) {
        int wait_error = sys_wait(page->writer, &status);
        error = error != 0 ? error : wait_error;
    }
    int written = cow_store(&page->times, sample);
    if (error != 0 || written != 0) {
        return error != 0 ? error : written;
    }
    /* A writer that was killed has left no times. */
    return page->times.first_ticks == 0 ? -ECHILD : 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    int error = cow_prepare(bench, reason);
    if (error == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return reason_set(reason, -errno, "PR_SET_CHILD_SUBREAPER: %s", strerror(errno));
    }
    return error;
}

const struct workload cow_child = {
    .id = "cow.child",
    COW_FACTS,
    .summary = "after a fork, the child's first write to each page",
    .axes = COW_AXES,
    .prepare = prepare,
    .launch = launch,
};
