/* What wake-ups have in common: an idle worker, a process or a thread, that answers each call and sleeps
 * again.
 *
 * Timed: from before the waking call until it has returned, until the worker's first own instruction after
 * waking, until its answer, sent by the same mechanism, has woken the caller. Outside: before each call the
 * caller sleeps until the kernel says that the worker sleeps too, so nobody is woken who was still awake.
 * Bias: the pause before a call is about 100 us, so that a CPU may have begun to idle but is seldom in its
 * deepest sleep. On the caller's CPU the woken worker mostly takes its place at once, before the waking call
 * has returned, which then contains the worker's whole answer; when it does not, task_runs contains the
 * caller's way to sleep. The scheduler decides, so that pinned figures can have two humps, and the waking
 * call is never ranked (call_returns_contains).
 */
#ifndef CLONOMETER_WAKE_H
#define CLONOMETER_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "probe/workload.h"

struct wake_row {
    struct sample sample;
    uint64_t call_returns;
    uint64_t task_runs; /* 0: none */
    uint64_t answered;
};

extern const struct column WAKE_COLUMNS[];
extern const char *const WAKE_AXES[];

/* In shared memory, since the worker may be a process. The padding is meant.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct wake {
    pid_t process; /* the worker's, 0: a thread of this one */
    pid_t task;    /* as the kernel numbers it; 0 until it has begun */
    pthread_t thread;
    bool stop;
    int call_pipe[2];
    int answer_pipe[2];
    /* On cache lines of their own: the caller writes the one, the worker the other. */
    _Alignas(64) uint32_t calls;
    _Alignas(64) uint32_t answers;
    _Alignas(64) pthread_mutex_t mutex;
    pthread_cond_t called;
    pthread_cond_t answered;
};

/* What tells the mechanisms apart. */
struct wake_ways {
    int (*open)(struct wake *wake);  /* makes the pipes and the like; may be NULL */
    void (*call)(struct wake *wake); /* the waking call */
    void (*wait_answer)(struct wake *wake);
    void (*wait_call)(struct wake *wake); /* the worker sleeps here */
    void (*answer)(struct wake *wake);
};

/* Starts the worker. 0, or -errno with the reason. */
int wake_start_process(struct bench *bench, const struct wake_ways *ways, struct reason *reason);
int wake_start_thread(struct bench *bench, const struct wake_ways *ways, struct reason *reason);

/* One wake-up. 0, or -errno when the worker has gone or would not sleep. */
int wake_once(const struct bench *bench, const struct wake_ways *ways, struct sample *sample);

/* Ends the worker and reaps it. */
void wake_end_process(struct bench *bench, const struct wake_ways *ways);
void wake_end_thread(struct bench *bench, const struct wake_ways *ways);

/* `worker` is process or thread. */
#define WAKE_WORKLOAD(variable, name, ways_of, worker, says)                                                 \
    static int prepare_##variable(struct bench *bench, struct reason *reason) {                              \
        return wake_start_##worker(bench, &(ways_of), reason);                                               \
    }                                                                                                        \
    static int launch_##variable(const struct bench *bench, struct sample *sample) {                         \
        return wake_once(bench, &(ways_of), sample);                                                         \
    }                                                                                                        \
    static void finish_##variable(struct bench *bench) {                                                     \
        wake_end_##worker(bench, &(ways_of));                                                                \
    }                                                                                                        \
    const struct workload variable = {                                                                       \
        .id = (name),                                                                                        \
        .family = "wake",                                                                                    \
        .summary = (says),                                                                                   \
        .answers.columns = WAKE_COLUMNS,                                                                     \
        .axes = WAKE_AXES,                                                                                   \
        .has_temperature = true,                                                                             \
        ROWS_OF(wake_row),                                                                                   \
        .answers.call_returns_contains = "answer",                                                           \
        .prepare = prepare_##variable,                                                                       \
        .launch = launch_##variable,                                                                         \
        .finish = finish_##variable,                                                                         \
    }

#endif
