/* launch.fork_exec
 * Timed: from before fork() until it returns in the parent, until the child's first own instruction, until
 * the first line of the new program's main (stamped by our own targets), until waitpid has returned. Outside:
 * finding the program. Bias: as launch.fork; the target writes its stamps with one system call at main's end,
 * inside reaped alone. Source: fork(2), execve(2); S4 of sysel-2020.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

static int launch(const struct bench *bench, struct sample *sample) {
    launch_before(sample);
    pid_t pid = fork();
    if (pid == 0) {
        launch_task_runs(bench);
        launch_close_files(bench, bench->stamps_fd);
        execve(bench->program->path, bench->program->arguments, bench->program->environment);
        int error_number = errno;
        launch_put(bench, offsetof(struct stamps, child_error), &error_number, sizeof error_number);
        _exit(127);
    }
    int error = pid < 0 ? -errno : 0;
    launch_call_returned(bench, sample);
    return error != 0 ? error : launch_reap_program(bench, pid, sample);
}

static const char *const AXES[] = {AXES_START,     AXES_CLOSE,      AXES_CONCURRENCY, "fork_handlers",
                                   "call_spin_ns", "stamp_spin_ns", AXES_PROGRAM,     NULL};

const struct workload launch_fork_exec = {
    .id = "launch.fork_exec",
    PROGRAM_FACTS,
    .summary = "fork(), the child execs a program, waitpid()",
    .axes = AXES,
    .task.copies_memory = true,
    .task.facts = &LIBRARY_FORK,
    .launch = launch,
};
