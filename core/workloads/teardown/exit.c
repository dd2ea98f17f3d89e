/* teardown.exit
 * Timed: from the child's last stamp before _exit() until the parent's wait has returned: the child's memory
 * is taken down, the parent woken. Outside: the fork, and the child's writing of its child_bytes, in pages of
 * 4 KiB. Bias: contains the stamp's own store, some nanoseconds since the page is there already, and the
 * wake-up of the parent, which sleeps in wait. Source: _exit(2), wait(2); kernel/exit.c, do_exit.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"
#include "workloads/teardown/child.h"

static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = fork();
    if (pid == 0) {
        child_grow(bench);
        struct stamp stamp = clock_read();
        bench->stamps->extra_ticks = stamp.ticks;
        bench->stamps->task_cpu = (int32_t)stamp.cpu;
        _exit(0);
    }
    int error = pid < 0 ? -errno : launch_reap(bench, pid, sample);
    struct teardown_row *row = (struct teardown_row *)(void *)sample;
    row->teardown = row->launch.reaped - bench->stamps->extra_ticks;
    return error;
}

const struct workload teardown_exit = {
    .id = "teardown.exit",
    TEARDOWN_FACTS,
    .summary = "a child process exits by itself, until it is reaped",
    .launch = launch,
};
