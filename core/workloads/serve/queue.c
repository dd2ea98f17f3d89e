#include "workloads/serve/queue.h"

#include <string.h>
#include <sys/mman.h>

static struct serve_job take(struct serve_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0) {
        pthread_cond_wait(&queue->filled, &queue->lock);
    }
    struct serve_job job = queue->jobs[queue->first];
    queue->first = (queue->first + 1) % QUEUE_MOST_JOBS;
    queue->count--;
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void *answer_all(void *argument) {
    struct serve_queue *queue = argument;
    for (struct serve_job job = take(queue); job.fd >= 0; job = take(queue)) {
        queue->answer(queue, &job);
    }
    return NULL;
}

void queue_push(struct serve_queue *queue, const struct serve_job *job) {
    pthread_mutex_lock(&queue->lock);
    queue->jobs[(queue->first + queue->count) % QUEUE_MOST_JOBS] = *job;
    queue->count++;
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_signal(&queue->filled);
}

struct serve_queue *queue_start(struct serve *serve, void *state,
                                void (*answer)(struct serve_queue *queue, const struct serve_job *job)) {
    struct serve_queue *queue =
        mmap(NULL, sizeof *queue, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (queue == MAP_FAILED) {
        return NULL;
    }
    queue->serve = serve;
    queue->answer = answer;
    queue->state = state;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    while (queue->threads < serve->workers &&
           pthread_create(&queue->thread[queue->threads], NULL, answer_all, queue) == 0) {
        queue->threads++;
    }
    if (queue->threads < serve->workers) {
        queue_end(queue);
        return NULL;
    }
    serve->live = 1 + queue->threads;
    return queue;
}

void queue_end(struct serve_queue *queue) {
    const struct serve_job none = {.fd = -1};
    for (int i = 0; i < queue->threads; i++) {
        queue_push(queue, &none);
    }
    for (int i = 0; i < queue->threads; i++) {
        pthread_join(queue->thread[i], NULL);
    }
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
    munmap(queue, sizeof *queue);
}
