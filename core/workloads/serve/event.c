/* serve.event: loops of events, by default one for each CPU of the server, each a process. TCP listeners are
 * apart (SO_REUSEPORT), so that the kernel spreads the connections; others are shared, and each connection
 * wakes one loop (EPOLLEXCLUSIVE). A single loop is the probe itself. */
#include <errno.h>

#include "base/clock.h"
#include "workloads/serve/loop.h"

static int processes(const struct serve *serve) {
    return serve->workers > 1 || serve->crash_number >= 0 ? serve->workers : 0;
}

static bool answer(struct loop *loop, int fd) {
    struct loop_visit *visit = &loop->visits[fd];
    visit->served = serve_work(loop->serve, &visit->reading, clock_read().ticks);
    return loop_write(loop, fd);
}

static void serve_all(struct serve *serve, int number) {
    int listener = serve->listeners[serve->listener_count > 1 ? number : 0];
    struct loop *loop = loop_open(serve, listener, serve->listener_count < serve->workers, answer);
    if (loop == NULL) {
        serve_cannot(serve, ENOMEM);
        return;
    }
    serve_ready(serve, number);
    loop_run(loop);
    loop_close(loop);
}

static const struct serve_design DESIGN = {.processes = processes,
                                           .serve = serve_all,
                                           .listens_apart = true,
                                           .multiplexes = true,
                                           .a_worker_a_cpu = true};

const struct workload serve_event = {
    .id = "serve.event",
    SERVE_FACTS,
    .summary = "a server of event loops (epoll), by default one on each CPU",
    .axes = SERVE_POOL_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
