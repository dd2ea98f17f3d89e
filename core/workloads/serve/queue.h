/* Connections that wait for a thread of a pool. */
#ifndef CLONOMETER_SERVE_QUEUE_H
#define CLONOMETER_SERVE_QUEUE_H

#include <pthread.h>

#include "workloads/serve/serve.h"

enum { QUEUE_MOST_JOBS = SERVE_MOST_CLIENTS + SERVE_MOST_WORKERS };

struct serve_job {
    int fd; /* -1: the thread shall end */
    uint64_t ticks;
    struct serve_reading reading; /* where the request was read before */
};

struct serve_queue {
    struct serve *serve;
    void (*answer)(struct serve_queue *queue, const struct serve_job *job);
    void *state; /* of who answers */
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int first;
    int count;
    int threads;
    pthread_t thread[SERVE_MOST_WORKERS];
    struct serve_job jobs[QUEUE_MOST_JOBS];
};

/* Starts the pool's threads, which answer what is pushed. NULL: they cannot be started. */
struct serve_queue *queue_start(struct serve *serve, void *state,
                                void (*answer)(struct serve_queue *queue, const struct serve_job *job));

/* Hands a job over. There is room for as many as there can be connections. */
void queue_push(struct serve_queue *queue, const struct serve_job *job);

/* Ends the threads, after what is still in the queue. */
void queue_end(struct serve_queue *queue);

#endif
