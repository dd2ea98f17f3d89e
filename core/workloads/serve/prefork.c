/* serve.prefork: processes started beforehand, each of which accepts and answers connections. */
#include "workloads/serve/serve.h"

static int processes(const struct serve *serve) {
    return serve->workers;
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_in_turn, .answerers = processes};

const struct workload serve_prefork = {
    .id = "serve.prefork",
    SERVE_FACTS,
    .summary = "a server of processes started beforehand, each of which accepts connections",
    .axes = SERVE_POOL_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
