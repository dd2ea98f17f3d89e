/* launch.posix_spawn
 * Timed: from before posix_spawn() with no actions until it returns, until the first line of the new
 * program's main (stamped by our own targets), until waitpid has returned. Bias: before the exec the child
 * runs only the C library's code, on memory shared with the parent, so task_runs does not exist; the parent
 * sleeps until the exec has happened (CLONE_VM | CLONE_VFORK in glibc and musl alike), so call_returns
 * contains it and is never ranked. Source: posix_spawn(3); glibc sysdeps/unix/sysv/linux/spawni.c.
 */
#include <errno.h>
#include <spawn.h>
#include <unistd.h>

#include "workloads/launch/launch.h"

static int launch(const struct bench *bench, struct sample *sample) {
    pid_t pid;
    launch_before(sample);
    int error = posix_spawn(&pid, bench->program->path, NULL, NULL, bench->program->arguments,
                            bench->program->environment);
    launch_call_returned(bench, sample);
    return error != 0 ? -error : launch_reap_program(bench, pid, sample);
}

static const struct null_reason NULLS[] = {
    {"task_runs_ns", "before the exec the child runs only the C library's code"}, {NULL, NULL}};

static const char *const AXES[] = {AXES_START, AXES_CONCURRENCY, "call_spin_ns", AXES_PROGRAM, NULL};

const struct workload launch_posix_spawn = {
    .id = "launch.posix_spawn",
    PROGRAM_FACTS,
    .summary = "posix_spawn() of a program, waitpid()",
    .axes = AXES,
    .answers.nulls = NULLS,
    .answers.call_returns_contains = "child_life",
    .task.facts = &LIBRARY_VFORK,
    .launch = launch,
};
