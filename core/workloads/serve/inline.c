/* serve.inline: one process answers one connection after the other. */
#include "workloads/serve/serve.h"

static int processes(const struct serve *serve) {
    return serve->crash_number >= 0 ? 1 : 0;
}

void serve_in_turn(struct serve *serve, int number) {
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        int fd = serve_accept(serve, serve->listeners[0], 0);
        if (fd >= 0) {
            serve_connection(serve, fd);
        }
    }
}

static int answerers(const struct serve *serve) {
    (void)serve;
    return 1;
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_in_turn, .answerers = answerers};

const struct workload serve_inline = {
    .id = "serve.inline",
    SERVE_FACTS,
    .summary = "a server of one process that answers one connection after the other",
    .axes = SERVE_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
