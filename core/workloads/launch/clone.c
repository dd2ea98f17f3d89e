/* launch.clone
 * Timed: as launch.fork, with the raw system call clone and nothing but SIGCHLD: what the kernel alone does.
 * Outside: as launch.fork. Bias: the C library does not know of the child, so nothing of it is put in order
 * there (its cached ids are the parent's); the child only stamps and leaves. Source: clone(2).
 */
#include <signal.h>

#include "base/clone.h"
#include "workloads/launch/launch.h"

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    long pid = clone_fork_like(SIGCHLD);
    if (pid == 0) {
        launch_task_runs(bench);
        launch_child_ends(bench);
    }
    launch_call_returned(bench, sample);
    return pid < 0 ? (int)pid : launch_reap(bench, (pid_t)pid, sample);
}

static const struct clone_facts FLAGS = {.flags = 0, .exact = true, .reaped_by = "wait"};

const struct workload launch_clone = {
    .id = "launch.clone",
    FORK_FACTS,
    .summary = "the system call clone, like fork; the child exits, waitpid()",
    .axes = FORK_AXES,
    .task.facts = &FLAGS,
    .launch = launch,
};
