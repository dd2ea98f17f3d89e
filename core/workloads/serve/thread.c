/* serve.thread: a detached thread for each connection. */
#include <pthread.h>
#include <unistd.h>

#include "workloads/serve/serve.h"

enum { LOOK_AGAIN_NS = 100000 };

static int processes(const struct serve *serve) {
    return serve->crash_number >= 0 ? 1 : 0;
}

/* What threads share is written by all of them. */
static struct {
    struct serve *serve;
} of_threads;

static void *answer(void *argument) {
    struct serve *serve = of_threads.serve;
    serve_connection(serve, (int)(intptr_t)argument);
    __atomic_sub_fetch(&serve->live, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void serve_all(struct serve *serve, int number) {
    pthread_attr_t attributes;
    of_threads.serve = serve;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        int fd = serve_accept(serve, serve->listeners[0], 0);
        if (fd < 0) {
            continue;
        }
        pthread_t thread;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number, in the place of a pointer */
        void *argument = (void *)(intptr_t)fd;
        __atomic_add_fetch(&serve->live, 1, __ATOMIC_RELAXED);
        if (pthread_create(&thread, &attributes, answer, argument) != 0) {
            __atomic_sub_fetch(&serve->live, 1, __ATOMIC_RELAXED);
            close(fd);
        }
    }
    /* The client has closed its connections: each thread sees the end of its own. */
    while (__atomic_load_n(&serve->live, __ATOMIC_ACQUIRE) > 1) {
        sys_sleep(LOOK_AGAIN_NS);
    }
    pthread_attr_destroy(&attributes);
}

static const struct serve_design DESIGN = {.processes = processes, .serve = serve_all};

const struct workload serve_thread = {
    .id = "serve.thread",
    SERVE_FACTS,
    .summary = "a server that starts a thread for each connection",
    .axes = SERVE_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
