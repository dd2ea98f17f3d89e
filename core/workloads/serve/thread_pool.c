/* serve.thread_pool: one thread accepts connections and puts them into a queue; a pool of threads answers. */
#include <errno.h>

#include "workloads/serve/queue.h"

static int processes(const struct serve *serve) {
    return serve->crash_number >= 0 ? 1 : 0;
}

static void answer(struct serve_queue *queue, const struct serve_job *job) {
    serve_connection(queue->serve, job->fd);
}

static void serve_all(struct serve *serve, int number) {
    struct serve_queue *queue = queue_start(serve, NULL, answer);
    if (queue == NULL) {
        serve_cannot(serve, EAGAIN);
        return;
    }
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        struct serve_job job = {.fd = serve_accept(serve, serve->listeners[0], 0)};
        if (job.fd >= 0) {
            queue_push(queue, &job);
        }
    }
    queue_end(queue);
}

static int answerers(const struct serve *serve) {
    return serve->workers;
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_all, .answerers = answerers};

const struct workload serve_thread_pool = {
    .id = "serve.thread_pool",
    SERVE_FACTS,
    .summary = "a server whose acceptor queues connections for a pool of threads",
    .axes = SERVE_POOL_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
