/* launch.pthread
 * Timed: from before pthread_create() until it returns, until the thread's first own instruction, until
 * pthread_join has returned; nobody waits for a detached thread, whose reaped is null. Outside: storing the
 * sample; mapping a stack of ours anew (stack_cache=cold); waiting until a detached thread has really gone.
 * Bias: join returns when the kernel has cleared the thread's tid, while the thread may still be leaving the
 * kernel on another CPU; the next launch can meet it there. From the second launch on the C library reuses
 * the stack; with stack_cache=cold glibc keeps none (its tunable stack_cache_size, for which the probe starts
 * itself anew) and unmaps it inside pthread_join. In a dynamic glibc program the first pthread_exit loads
 * libgcc_s. Source: pthread_create(3); the interval of bendersky-2018 and loop-10000.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "workloads/launch/launch.h"
#include "workloads/launch/thread_stack.h"

static void *run(void *argument) {
    const struct bench *bench = argument;
    launch_task_runs(bench);
    launch_before_exit(bench);
    if (bench->request->thread_ending == THREAD_PTHREAD_EXIT) {
        pthread_exit(NULL);
    }
    return NULL;
}

/* How many threads this process has, whose number is that of the links of their folder beyond two; it falls
 * when the kernel has released the task, after all that join would have waited for. */
static long threads_now(void) {
    struct stat folder;
    return stat("/proc/self/task", &folder) != 0 ? -errno : (long)folder.st_nlink - 2;
}

static int launch_detached(const struct bench *bench, const struct thread_settings *settings,
                           struct sample *sample) {
    enum { STEP_NS = 20000 };
    pthread_t thread;
    long before = threads_now();
    if (before < 0) {
        return (int)before;
    }
    launch_before(sample);
    int error = pthread_create(&thread, &settings->attributes, run, (void *)bench);
    launch_call_returned(bench, sample);
    sample->cpu_after = -1;
    while (error == 0 && threads_now() > before) {
        struct timespec pause = {.tv_nsec = STEP_NS};
        nanosleep(&pause, NULL);
    }
    return -error;
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    struct thread_settings *settings = bench->state;
    const pthread_attr_t *attributes = settings != NULL ? &settings->attributes : NULL;
    pthread_t thread;
    if (settings != NULL && settings->fresh) {
        int error = thread_stack_renew(settings);
        if (error != 0) {
            return error;
        }
    }
    if (bench->request->detached != 0) {
        return launch_detached(bench, settings, sample);
    }
    launch_before(sample);
    int error = pthread_create(&thread, attributes, run, (void *)bench);
    launch_call_returned(bench, sample);
    if (error != 0) {
        return -error;
    }
    launch_sleep(bench);
    error = pthread_join(thread, NULL);
    launch_reaped(sample);
    return -error;
}

static const char *const AXES[] = {
    AXES_LAUNCH, AXES_CONCURRENCY, "detached",      "stack_bytes",   "stack_kind",
    "guard",     "stack_cache",    "thread_ending", "reap_after_ns", NULL};

const struct workload launch_pthread = {
    .id = "launch.pthread",
    LAUNCH_FACTS,
    .summary = "pthread_create(), the thread ends, pthread_join()",
    .axes = AXES,
    .task.facts = &LIBRARY_THREAD,
    .needs.tunables = thread_tunables,
    .prepare = thread_settings_prepare,
    .launch = launch,
};
