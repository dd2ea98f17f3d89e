/* launch.vfork_exec
 * Timed: as launch.fork_exec, with vfork(). The parent sleeps until the exec has happened, so call_returns
 * contains it and is never ranked. Outside: finding the program. Bias: until its exec the child runs on the
 * parent's stack and memory, so that its stamp costs no fault. Source: vfork(2), execve(2).
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = vfork();
    if (pid == 0) {
        launch_task_runs(bench);
        execve(bench->program->path, bench->program->arguments, bench->program->environment);
        bench->stamps->child_error = errno;
        _exit(127);
    }
    int error = pid < 0 ? -errno : 0;
    launch_call_returned(bench, sample);
    return error != 0 ? error : launch_reap_program(bench, pid, sample);
}

static const char *const AXES[] = {AXES_START,      AXES_CONCURRENCY, "call_spin_ns",
                                   "stamp_spin_ns", AXES_PROGRAM,     NULL};

const struct workload launch_vfork_exec = {
    .id = "launch.vfork_exec",
    PROGRAM_FACTS,
    .summary = "vfork(), the child execs a program, waitpid()",
    .axes = AXES,
    .answers.call_returns_contains = "child_life",
    .task.facts = &LIBRARY_VFORK,
    .launch = launch,
};
