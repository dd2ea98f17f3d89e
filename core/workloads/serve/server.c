/* What all designs share: whether a request can be measured, the memory, the CPUs, the client. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "probe/limits/limits.h"
#include "probe/parent/parent.h"
#include "workloads/serve/load.h"
#include "workloads/serve/text.h"

enum {
    TASK_BYTES = 256 << 10, /* of a process: its kernel memory, page tables, the pages that it writes */
    OTHER_TASKS = 4,
    OTHER_FILES = 32
};

int64_t serve_rows_each(const struct request *request) {
    double count = (double)request->rate_hz * (double)request->load_ns / 1e9;
    double most = (double)SERVE_MOST_REQUESTS;
    return (int64_t)(count < 1 ? 1 : count > most ? most : count);
}

int serve_check(const struct request *request, struct reason *reason) {
    static const int64_t MOST_NS = 10000000000;
    static const int64_t MOST_LOAD_NS = 60000000000;
    const struct {
        const char *axis;
        int64_t value;
        int64_t least;
        int64_t most;
    } limits[] = {{"rate_hz", request->rate_hz, 1, SERVE_MOST_REQUESTS},
                  {"load_ns", request->load_ns, 1000000, MOST_LOAD_NS},
                  {"work_ns", request->work_ns, 0, MOST_NS},
                  {"block_ns", request->block_ns, 0, MOST_NS},
                  {"request_bytes", request->request_bytes, LOAD_LEAST_REQUEST_BYTES, 64 << 20},
                  {"response_bytes", request->response_bytes, TEXT_HEAD_BYTES, 64 << 20},
                  {"clients", request->clients, 1, SERVE_MOST_CLIENTS},
                  {"server_workers", request->server_workers, 0, SERVE_MOST_WORKERS},
                  {"dirtied_bytes", request->dirtied_bytes, 0, request->parent_bytes}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most) {
            return reason_set(reason, -EOPNOTSUPP, "%s=%lld: from %lld to %lld%s", limits[i].axis,
                              (long long)limits[i].value, (long long)limits[i].least,
                              (long long)limits[i].most,
                              limits[i].value > limits[i].most && limits[i].most == request->parent_bytes
                                  ? ", which is parent_bytes"
                                  : "");
        }
    }
    double requests = (double)request->rate_hz * (double)request->load_ns / 1e9;
    return requests <= (double)SERVE_MOST_REQUESTS
               ? 0
               : reason_set(reason, -EOPNOTSUPP,
                            "rate_hz=%lld for load_ns=%lld is %.0f requests; at most %d in a period",
                            (long long)request->rate_hz, (long long)request->load_ns, requests,
                            SERVE_MOST_REQUESTS);
}

/* The server has the highest CPUs that it may use, the client those that are left. */
static int choose_cpus(struct serve *serve, const struct sys_cpus *allowed, struct reason *reason) {
    int all = sys_cpu_count(allowed);
    int64_t wanted = serve->request->server_cpus;
    int64_t count = wanted > 0 ? wanted : all > 1 ? all - 1 : 1;
    if (count > all) {
        return reason_set(reason, -EOPNOTSUPP, "server_cpus=%lld, but the affinity of this process has %d",
                          (long long)wanted, all);
    }
    serve->client_cpus = *allowed;
    serve->server_cpus = (struct sys_cpus){.words = {0}};
    for (int64_t i = 0; i < count; i++) {
        int cpu = i == 0 && serve->request->cpu >= 0 ? (int)serve->request->cpu
                                                     : sys_highest_cpu(&serve->client_cpus);
        serve->client_cpus.words[cpu / 64] &= ~(1ULL << (cpu % 64));
        serve->server_cpus.words[cpu / 64] |= 1ULL << (cpu % 64);
    }
    serve->client_apart = sys_cpu_count(&serve->client_cpus) > 0;
    serve->client_cpus = serve->client_apart ? serve->client_cpus : *allowed;
    return 0;
}

static int count_workers(const struct serve_design *design, const struct request *request, int cpus) {
    if (request->server_workers > 0) {
        return (int)request->server_workers;
    }
    bool stays = request->connections == CONNECTIONS_KEPT && !design->multiplexes;
    return design->a_worker_a_cpu ? cpus : stays ? (int)request->clients : SERVE_POOL_WORKERS;
}

/* A task that stays with its connection answers no other one. */
static int check_kept(const struct serve *serve, struct reason *reason) {
    int answerers = serve->design->answerers != NULL ? serve->design->answerers(serve) : 0;
    if (!serve->kept || answerers == 0 || answerers >= serve->request->clients) {
        return 0;
    }
    return reason_set(reason, -EOPNOTSUPP,
                      "each of %d tasks stays with its kept connection, but there are clients=%lld; choose "
                      "connections=per_request, clients=%d, or a larger server_workers",
                      answerers, (long long)serve->request->clients, answerers);
}

static int ask_limits(const struct serve *serve, struct reason *reason) {
    const struct request *request = serve->request;
    int64_t tasks = serve->workers + request->clients + OTHER_TASKS;
    const struct limits_need need = {.tasks = tasks,
                                     .memory_bytes = tasks * (TASK_BYTES + request->dirtied_bytes) +
                                                     serve->requests * (int64_t)sizeof(struct serve_result),
                                     .descriptors = request->clients + serve->listener_count + OTHER_FILES};
    int error = limits_check("", &need, reason);
    return error != 0 ? error : parent_files_raise(need.descriptors, reason);
}

static void *map_memory(size_t length, int sharing) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The server's description twice, its listeners, the body of its answers: one mapping. */
static struct serve *describe(const struct request *request, const struct serve_design *design, int workers,
                              int listeners) {
    size_t body = (size_t)request->response_bytes - TEXT_HEAD_BYTES;
    size_t each = sizeof(struct serve) + (size_t)listeners * sizeof(int);
    each = (each + SERVE_LINE_BYTES - 1) / SERVE_LINE_BYTES * SERVE_LINE_BYTES;
    struct serve *serve = map_memory(2 * each + body, MAP_PRIVATE);
    if (serve == NULL) {
        return NULL;
    }
    char *memory = (char *)serve;
    *serve = (struct serve){.design = design,
                            .request = request,
                            .own_bytes = 2 * each + body,
                            .dirtied_bytes = request->dirtied_bytes,
                            .block_ns = request->block_ns,
                            .crash_number = request->crash == CRASH_ONE ? serve_rows_each(request) / 2 : -1,
                            .requests = serve_rows_each(request),
                            .workers = workers,
                            .kept = request->connections == CONNECTIONS_KEPT,
                            .probe = getpid(),
                            .listener_count = listeners,
                            .pair = {-1, -1},
                            .body_bytes = body,
                            .body = memory + 2 * each,
                            .alone = (struct serve *)(void *)(memory + each)};
    memset(serve->body, 'x', body);
    for (int i = 0; i < listeners; i++) {
        serve->listeners[i] = -1;
    }
    return serve;
}

static int share(struct serve *serve) {
    serve->shared_bytes = sizeof *serve->shared + (size_t)serve->workers * sizeof(struct serve_slot);
    serve->shared = map_memory(serve->shared_bytes, MAP_SHARED);
    void *results = map_memory((size_t)serve->requests * sizeof(struct serve_result), MAP_SHARED);
    if (serve->shared == NULL || results == NULL) {
        return -ENOMEM;
    }
    serve->shared->results = results;
    return 0;
}

/* What children do not need: each mapping more is one more that a fork copies. */
static void keep_from_children(const struct bench *bench, const struct serve *serve) {
    (void)madvise(serve->shared->results, (size_t)serve->requests * sizeof(struct serve_result),
                  MADV_DONTFORK);
    (void)madvise(bench->stamps, STAMP_PAGE_BYTES, MADV_DONTFORK);
    if (serve->design->connection_dies_alone) {
        (void)madvise(serve->shared, serve->shared_bytes, MADV_DONTFORK);
    }
}

static int start(struct bench *bench, struct serve *serve, struct reason *reason) {
    int error = check_kept(serve, reason);
    error = error != 0 ? error : ask_limits(serve, reason);
    if (error != 0) {
        return error;
    }
    error = share(serve);
    error = error != 0 ? error : sys_allow(&serve->server_cpus);
    if (error != 0) {
        return reason_set(reason, error, "the server cannot be prepared: %s", strerror(-error));
    }
    /* What a request waits for comes when it comes: sleeps of its tasks end when they are due, not 50 us
     * later. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    serve->iterations = serve_calibrate(serve->request->work_ns);
    error = serve_listen(serve, reason);
    if (error != 0) {
        return error;
    }
    error = load_start(serve);
    if (error != 0) {
        return reason_set(reason, error, "the client cannot be started: %s", strerror(-error));
    }
    keep_from_children(bench, serve);
    return 0;
}

int serve_prepare(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    const struct serve_design *design = request->workload->about;
    struct serve cpus = {.request = request};
    int error = choose_cpus(&cpus, bench->affinity, reason);
    if (error != 0) {
        return error;
    }
    int workers = count_workers(design, request, sys_cpu_count(&cpus.server_cpus));
    bool apart = design->listens_apart && request->transport == TRANSPORT_TCP;
    struct serve *serve = describe(request, design, workers, apart ? workers : 1);
    if (serve == NULL) {
        return reason_set(reason, -ENOMEM, "no memory for the server: %s", strerror(errno));
    }
    serve->server_cpus = cpus.server_cpus;
    serve->client_cpus = cpus.client_cpus;
    serve->client_apart = cpus.client_apart;
    bench->state = serve;
    error = start(bench, serve, reason);
    if (error != 0) {
        serve_finish(bench);
    }
    return error;
}

/* The parent's memory is there by now. */
static void meet_memory(const struct bench *bench, struct serve *serve) {
    serve->memory = bench->parent.memory;
    memcpy(serve->alone, serve, sizeof *serve->alone);
    serve->alone->shared = NULL;
}

int serve_launch(const struct bench *bench, struct sample *sample) {
    struct serve *serve = bench->state;
    struct serve_row *rows = (struct serve_row *)(void *)sample;
    struct serve_period period = {.pss = -1};
    meet_memory(bench, serve);
    int error = serve_run_period(serve, &period);
    if (error != 0) {
        serve_fail_rows(serve, error, rows);
        return error;
    }
    serve_fill_rows(serve, &period, rows);
    return -rows[0].sample.error; /* as whoever called writes it there */
}

void serve_finish(struct bench *bench) {
    struct serve *serve = bench->state;
    load_end(serve);
    for (int i = 0; i < serve->listener_count; i++) {
        if (serve->listeners[i] >= 0) {
            close(serve->listeners[i]);
        }
    }
    if (serve->pair[0] >= 0) {
        close(serve->pair[0]);
        close(serve->pair[1]);
    }
    if (serve->shared != NULL) {
        munmap(serve->shared->results, (size_t)serve->requests * sizeof(struct serve_result));
        munmap(serve->shared, serve->shared_bytes);
    }
    munmap(serve, serve->own_bytes);
    bench->state = NULL;
}

#define ROW(field) offsetof(struct serve_row, field)

const struct column SERVE_COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},
    {"latency_ns", COLUMN_REAL_NS, ROW(latency), NULL,
     "from the intended time of sending until the whole answer has been read"},
    {"served_ns", COLUMN_NS, ROW(served), NULL, "in the server: from a request that was read to its answer"},
    {"sent_late_ns", COLUMN_NS, ROW(late), NULL, "how late the client was at the intended time of sending"},
    {"server_cpu_each_ns", COLUMN_REAL_NS, ROW(cpu_each), NULL,
     "CPU time of all tasks of the server, for each answered request"},
    {"server_system_each_ns", COLUMN_REAL_NS, ROW(system_each), NULL,
     "the kernel's part of the server's CPU time, for each answered request"},
    {"faults_each", COLUMN_REAL_COUNT, ROW(faults_each), NULL,
     "page faults of the server for each answered request"},
    {"switches_each", COLUMN_REAL_COUNT, ROW(switches_each), NULL,
     "context switches of the server for each answered request"},
    {"served_per_s", COLUMN_PER_SECOND, ROW(served_per_s), NULL, "requests per second that were answered"},
    {"pss_bytes", COLUMN_SIGNED_BYTES, ROW(pss), NULL,
     "proportional memory (PSS) of the server as the load ends"},
    {"failed", COLUMN_COUNT, ROW(failed), NULL, "requests without an answer"},
    {"lost", COLUMN_COUNT, ROW(lost), NULL, "requests that a crash left without an answer"},
    {"dead_tasks", COLUMN_COUNT, ROW(dead_tasks), NULL, "tasks that died of a crash"},
    {"whole_again_ns", COLUMN_NS, ROW(whole_again), NULL,
     "from a crash until as many tasks as before can answer"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
const char *const SERVE_DETAILS[] = {"served_ns",   "sent_late_ns",   "server_system_each_ns",
                                     "faults_each", "switches_each",  "pss_bytes",
                                     "failed",      "served_per_s",   "lost",
                                     "dead_tasks",  "whole_again_ns", NULL};
#define AXES_SERVE                                                                                           \
    "linkage", "frequency", "rate_hz", "arrivals", "arrival_seed", "load_ns", "work_ns", "block_ns",         \
        "request_bytes", "response_bytes", "dirtied_bytes", "parent_bytes", "connections", "clients",        \
        "transport", "server_cpus", "crash"
const char *const SERVE_AXES[] = {AXES_SERVE, NULL};
const char *const SERVE_POOL_AXES[] = {AXES_SERVE, "server_workers", NULL};
