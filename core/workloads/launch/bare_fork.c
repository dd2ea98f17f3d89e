/* launch.bare_fork
 * Timed: as launch.fork, with _Fork(): no handlers of pthread_atfork, no locks of the C library taken and
 * released. Outside and bias: as launch.fork. The difference to launch.fork is what the library adds.
 * Source: POSIX.1-2024, _Fork; glibc since 2.34, musl since 1.2.2.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

/* Weak: a C library without it links all the same. fork() of one that has it calls it, so that a static link
 * finds it too. */
extern pid_t _Fork(void) __attribute__((weak));

static int available(struct reason *reason) {
    return _Fork != NULL ? 0
                         : reason_set(reason, -ENOSYS,
                                      "this C library has no _Fork (glibc since 2.34, musl since 1.2.2)");
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = _Fork();
    if (pid == 0) {
        launch_task_runs(bench);
        launch_child_ends(bench);
    }
    int error = pid < 0 ? -errno : 0;
    launch_call_returned(bench, sample);
    return error != 0 ? error : launch_reap(bench, pid, sample);
}

const struct workload launch_bare_fork = {
    .id = "launch.bare_fork",
    FORK_FACTS,
    .summary = "_Fork(), which runs no fork handlers; the child exits, waitpid()",
    .axes = FORK_AXES,
    .task.facts = &LIBRARY_FORK,
    .needs.available = available,
    .launch = launch,
};
