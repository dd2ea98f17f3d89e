/* launch.c11_thread
 * Timed: as launch.pthread, with thrd_create() and thrd_join(). Bias: as launch.pthread, which both C
 * libraries build it on. Source: ISO C11 7.26.5; glibc since 2.28.
 */
#include <errno.h>
#include <threads.h>

#include "workloads/launch/launch.h"

static int run(void *argument) {
    const struct bench *bench = argument;
    launch_task_runs(bench);
    launch_before_exit(bench);
    return 0;
}

/* The standard has no errno here, only kinds of failure. */
static int error_of(int result) {
    return result == thrd_success ? 0 : result == thrd_nomem ? -ENOMEM : -EAGAIN;
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    thrd_t thread;
    launch_before(sample);
    int result = thrd_create(&thread, run, (void *)bench);
    launch_call_returned(bench, sample);
    if (result != thrd_success) {
        return error_of(result);
    }
    result = thrd_join(thread, NULL);
    launch_reaped(sample);
    return error_of(result);
}

const struct workload launch_c11_thread = {
    .id = "launch.c11_thread",
    LAUNCH_FACTS,
    .summary = "thrd_create(), the thread returns, thrd_join()",
    .axes = LAUNCH_AXES,
    .task.facts = &LIBRARY_THREAD,
    .launch = launch,
};
