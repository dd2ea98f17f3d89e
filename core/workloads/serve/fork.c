/* serve.fork: a process for each connection. The server reaps those that have ended after each fork, as
 * Python's socketserver does. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/serve/serve.h"

static int processes(const struct serve *serve) {
    (void)serve;
    return 0;
}

int serve_reap(struct serve *serve, int children, int options) {
    int status = 0;
    pid_t pid = children > 0 ? waitpid(-1, &status, options) : 0;
    while (pid > 0) {
        if (pid == serve->client) {
            serve->client = 0;
            serve->shared->client_error = ECHILD;
            __atomic_store_n(&serve->shared->over, 1U, __ATOMIC_RELEASE);
        } else {
            children--;
            serve->shared->dead_tasks += WIFSIGNALED(status) ? 1 : 0;
        }
        pid = children > 0 ? waitpid(-1, &status, options) : 0;
    }
    return children;
}

static void serve_all(struct serve *serve, int number) {
    int children = 0;
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        int fd = serve_accept(serve, serve->listeners[0], 0);
        if (fd < 0) {
            continue;
        }
        pid_t pid = fork();
        if (pid == 0) {
            serve_connection(serve->alone, fd);
            _exit(0);
        }
        close(fd);
        children = serve_reap(serve, children + (pid > 0), WNOHANG);
    }
    while (children > 0 && serve->client > 0) {
        children = serve_reap(serve, children, 0);
    }
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_all, .connection_dies_alone = true};

const struct workload serve_fork = {
    .id = "serve.fork",
    SERVE_FACTS,
    .summary = "a server that forks a process for each connection",
    .axes = SERVE_AXES,
    .about = &DESIGN,
    .prepare = serve_prepare,
};
