/* launch.pthread
 * Timed: from before pthread_create() with default attributes until it returns, until the thread's first own
 * instruction, until pthread_join has returned. Outside: storing the sample.
 * Bias: join returns when the kernel has cleared the thread's tid, while the thread may still be leaving the
 * kernel on another CPU; the next launch can meet it there. From the second launch on the C library reuses
 * the stack. Source: pthread_create(3); the interval of bendersky-2018 and loop-10000.
 */
#include <pthread.h>
#include <stddef.h>

#include "launch/launch.h"

static void *run(void *argument) {
    const struct bench *bench = argument;
    launch_task_runs(bench);
    launch_before_exit(bench);
    return NULL;
}

static int launch(const struct bench *bench, struct sample *sample) {
    pthread_t thread;
    launch_before(sample);
    int error = pthread_create(&thread, NULL, run, (void *)bench);
    launch_call_returned(bench, sample);
    if (error != 0) {
        return -error;
    }
    error = pthread_join(thread, NULL);
    launch_reaped(sample);
    return -error;
}

const struct workload launch_pthread = {
    .id = "launch.pthread",
    .family = "same_image",
    .summary = "pthread_create() with default attributes, the thread returns, pthread_join()",
    .columns = LAUNCH_COLUMNS,
    .axes = LAUNCH_AXES,
    .has_temperature = true,
    .nulls = NO_NEW_PROGRAM,
    .clone = &LIBRARY_THREAD,
    .launch = launch,
};
