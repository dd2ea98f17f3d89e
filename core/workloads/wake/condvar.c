/* wake.thread_condvar
 * Timed: as wake.h says; the waking call is what a pool does to hand over work: lock the mutex, change the
 * shared state, unlock, pthread_cond_signal. The worker's first instruction comes after pthread_cond_wait has
 * locked the mutex again. The answer goes the same way through a second condition variable.
 * Bias: the signal is sent after unlocking, so that the woken thread never meets a locked mutex; programs
 * that signal first may pay one more switch. Source: pthread_cond_signal(3p); glibc nptl/pthread_cond_wait.c.
 */
#include "workloads/wake/wake.h"

static int open_condvars(struct wake *wake) {
    int error = pthread_mutex_init(&wake->mutex, NULL);
    error = error != 0 ? error : pthread_cond_init(&wake->called, NULL);
    return -(error != 0 ? error : pthread_cond_init(&wake->answered, NULL));
}

static void raise_count(struct wake *wake, uint32_t *count, pthread_cond_t *condition) {
    pthread_mutex_lock(&wake->mutex);
    (*count)++;
    pthread_mutex_unlock(&wake->mutex);
    pthread_cond_signal(condition);
}

static void call(struct wake *wake) {
    raise_count(wake, &wake->calls, &wake->called);
}

static void answer(struct wake *wake) {
    raise_count(wake, &wake->answers, &wake->answered);
}

static void wait_answer(struct wake *wake) {
    pthread_mutex_lock(&wake->mutex);
    while (wake->answers != wake->calls) {
        pthread_cond_wait(&wake->answered, &wake->mutex);
    }
    pthread_mutex_unlock(&wake->mutex);
}

static void wait_call(struct wake *wake) {
    pthread_mutex_lock(&wake->mutex);
    while (wake->calls == wake->answers) {
        pthread_cond_wait(&wake->called, &wake->mutex);
    }
    pthread_mutex_unlock(&wake->mutex);
}

static const struct wake_ways WAYS = {open_condvars, call, wait_answer, wait_call, answer};

WAKE_WORKLOAD(wake_thread_condvar, "wake.thread_condvar", WAYS, thread,
              "an idle thread of a pool is woken by a condition variable");
