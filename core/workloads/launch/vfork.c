/* launch.vfork
 * Timed: as launch.fork, with vfork(). The parent sleeps until the child has left, so call_returns contains
 * the child's whole life and is never ranked. Bias: the child runs on the parent's stack and memory; its
 * stamp costs no fault. Source: vfork(2); CLONE_VM | CLONE_VFORK.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = vfork();
    if (pid == 0) {
        /* Everything here is inlined: the child must not return from the frame that called vfork. */
        launch_task_runs(bench);
        launch_before_exit(bench);
        _exit(0);
    }
    int error = pid < 0 ? -errno : 0;
    launch_call_returned(bench, sample);
    return error != 0 ? error : launch_reap(bench, pid, sample);
}

static const char *const AXES[] = {AXES_LAUNCH, AXES_CONCURRENCY, NULL};

const struct workload launch_vfork = {
    .id = "launch.vfork",
    LAUNCH_FACTS,
    .summary = "vfork(), the child exits by _exit, waitpid()",
    .axes = AXES,
    .answers.call_returns_contains = "child_life",
    .task.facts = &LIBRARY_VFORK,
    .launch = launch,
};
