/* launch.clone3, launch.clone3_pidfd
 * Timed: as launch.clone, with the system call clone3; with CLONE_PIDFD the kernel also makes a pidfd, and
 * the parent waits for the child by it. Outside: filling the arguments, closing the pidfd. Bias: as
 * launch.clone. Source: clone(2), waitid(2) with P_PIDFD.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clone.h"
#include "workloads/launch/clone3.h"
#include "workloads/launch/launch.h"

int launch_clone3_available(struct reason *reason) {
    int error = clone3_answers();
    return error == 0
               ? 0
               : reason_set(reason, error,
                            "clone3 answers ENOSYS: Linux before 5.3, or a seccomp filter such as Docker's");
}

WORKLOAD_HOT int launch_clone3(const struct bench *bench, struct clone_args_v2 *args, struct sample *sample) {
    launch_before(sample);
    long pid = clone3_fork_like(args);
    if (pid == 0) {
        launch_task_runs(bench);
        launch_child_ends(bench);
    }
    launch_call_returned(bench, sample);
    return pid < 0 ? (int)pid : launch_reap(bench, (pid_t)pid, sample);
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    struct clone_args_v2 args = {.exit_signal = SIGCHLD};
    return launch_clone3(bench, &args, sample);
}

WORKLOAD_HOT static int launch_with_pidfd(const struct bench *bench, struct sample *sample) {
    int pidfd = -1;
    int status = 0;
    struct clone_args_v2 args = {
        .flags = TASK_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd, .exit_signal = SIGCHLD};
    launch_before(sample);
    long pid = clone3_fork_like(&args);
    if (pid == 0) {
        launch_task_runs(bench);
        launch_child_ends(bench);
    }
    launch_call_returned(bench, sample);
    if (pid < 0) {
        return (int)pid;
    }
    int error = clone_wait_pidfd(pidfd, &status);
    launch_reaped(sample);
    close(pidfd);
    return error;
}

static const struct clone_facts FLAGS = {.flags = 0, .exact = true, .reaped_by = "wait"};
static const struct clone_facts PIDFD_FLAGS = {.flags = TASK_PIDFD, .exact = true, .reaped_by = "wait"};

const struct workload launch_clone3_plain = {
    .id = "launch.clone3",
    FORK_FACTS,
    .summary = "the system call clone3, like fork; the child exits, waitpid()",
    .axes = FORK_AXES,
    .task.facts = &FLAGS,
    .needs.available = launch_clone3_available,
    .launch = launch,
};

const struct workload launch_clone3_pidfd = {
    .id = "launch.clone3_pidfd",
    FORK_FACTS,
    .summary = "clone3 with CLONE_PIDFD; the child exits, waitid() by the pidfd",
    .axes = FORK_AXES,
    .task.facts = &PIDFD_FLAGS,
    .needs.available = launch_clone3_available,
    .launch = launch_with_pidfd,
};
