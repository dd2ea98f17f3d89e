/* serve.prefork: processes started beforehand, each of which accepts and answers connections. */
#include "workloads/serve/serve.h"

static int processes(const struct serve *serve) {
    return serve->workers;
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_in_turn, .answerers = processes};

static int prepare(struct bench *bench, struct reason *reason) {
    return serve_prepare(bench, &DESIGN, reason);
}

const struct workload serve_prefork = {
    .id = "serve.prefork",
    SERVE_FACTS,
    .summary = "a server of processes started beforehand, each of which accepts connections",
    .axes = SERVE_POOL_AXES,
    .prepare = prepare,
};
