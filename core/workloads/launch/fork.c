/* launch.fork
 * Timed: from before fork() until it returns in the parent, until the child's first own instruction, until
 * waitpid has returned. Outside: rewriting the parent's memory, storing the sample. Bias: the C library's
 * fork handlers run in the child before its stamp and belong to task_runs; the store of the stamp faults in
 * the child (measured by launch.stamp) and belongs to reaped, as does a sleep of reap_after_ns. Source:
 * fork(2), pthread_atfork(3); the interval of sysel-2020, bendersky-2018 and loop-10000.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = fork();
    if (pid == 0) {
        launch_task_runs(bench);
        launch_child_ends(bench);
    }
    int error = pid < 0 ? -errno : 0;
    launch_call_returned(bench, sample);
    launch_sleep(bench);
    return error != 0 ? error : launch_reap(bench, pid, sample);
}

static const char *const AXES[] = {
    AXES_LAUNCH, AXES_CLOSE, AXES_CONCURRENCY, "process_ending", "fork_handlers", "reap_after_ns", NULL};

const struct workload launch_fork = {
    .id = "launch.fork",
    FORK_FACTS,
    .summary = "fork(), the child exits, waitpid()",
    .axes = AXES,
    .task.facts = &LIBRARY_FORK,
    .launch = launch,
};
