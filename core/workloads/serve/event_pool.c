/* serve.event_pool: a loop of events reads requests and hands them to a pool of threads, which work and
 * answer. */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "workloads/serve/loop.h"
#include "workloads/serve/queue.h"

static int processes(const struct serve *serve) {
    return serve->crash_number >= 0 ? 1 : 0;
}

static bool hand_over(struct loop *loop, int fd) {
    const struct serve_job job = {.fd = fd, .ticks = clock_read().ticks, .reading = loop->visits[fd].reading};
    queue_push(loop->state, &job);
    return false;
}

static void answer(struct serve_queue *queue, const struct serve_job *job) {
    int64_t served_ns = serve_work(queue->serve, &job->reading, job->ticks);
    int error = serve_write(queue->serve, job->fd, served_ns);
    if (error == 0 && queue->serve->kept) {
        loop_take_back(queue->state, job->fd);
    } else {
        close(job->fd);
    }
}

static void serve_all(struct serve *serve, int number) {
    struct loop *loop = loop_open(serve, serve->listeners[0], false, hand_over);
    struct serve_queue *queue = loop != NULL ? queue_start(serve, loop, answer) : NULL;
    if (queue == NULL) {
        serve_cannot(serve, EAGAIN);
        return;
    }
    loop->state = queue;
    serve_ready(serve, number);
    loop_run(loop);
    queue_end(queue);
    loop_close(loop);
}

static const struct serve_design DESIGN = {.processes = processes, .serve = serve_all, .multiplexes = true};

const struct workload serve_event_pool = {
    .id = "serve.event_pool",
    SERVE_FACTS,
    .summary = "a server whose event loop (epoll) hands requests to a pool of threads",
    .axes = SERVE_POOL_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
