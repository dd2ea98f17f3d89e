/* Processes of a server: started together, replaced when they end early, ended with the load. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "workloads/serve/serve.h"

static const int64_t START_NS = 10000000000; /* of all; each takes less than a millisecond */
enum { NUDGE_NS = 500000, MOST_NUDGES = 4000 };

/* It lives long: it must not outlive the probe. */
__attribute__((noreturn)) static void live(struct serve *serve, int number) {
    struct serve_slot *slot = &serve->shared->slots[number];
    serve->forked = true;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != serve->probe) {
        _exit(1);
    }
    serve->design->serve(serve, number);
    struct serve_usage after;
    serve_usage_read(&after);
    serve_usage_add(&serve->shared->used, &slot->before, &after);
    _exit(0);
}

static int start(struct serve *serve, int number) {
    struct serve_slot *slot = &serve->shared->slots[number];
    memset(slot, 0, sizeof *slot);
    pid_t pid = fork();
    if (pid == 0) {
        live(serve, number);
    }
    slot->pid = pid > 0 ? pid : 0;
    return pid < 0 ? -errno : 0;
}

int serve_start_pool(struct serve *serve, int count) {
    serve->shared->ready.count = 0;
    int error = 0;
    for (int i = 0; error == 0 && i < count; i++) {
        error = start(serve, i);
    }
    return error != 0 ? error : tally_await(&serve->shared->ready, (uint32_t)count, START_NS);
}

/* One has ended before its time, and another takes its place. What it used counts: one that was not killed
 * has said so itself. */
static void replace(struct serve *serve, pid_t pid, int status, const struct rusage *rusage) {
    for (int i = 0; i < serve->workers; i++) {
        struct serve_slot *slot = &serve->shared->slots[i];
        if (slot->pid == pid) {
            struct serve_usage after = {0};
            serve_usage_take(&after, rusage);
            if (WIFSIGNALED(status)) {
                serve_usage_add(&serve->shared->used, &slot->before, &after);
            }
            slot->pid = 0;
            if (!serve_over(serve)) {
                (void)start(serve, i);
            }
        }
    }
}

static pid_t take_ended(struct serve *serve, int options) {
    struct rusage rusage;
    int status = 0;
    pid_t pid = wait4(-1, &status, options, &rusage);
    if (pid == serve->client) {
        serve->client = 0;
        serve->shared->client_error = ECHILD;
        __atomic_store_n(&serve->shared->over, 1U, __ATOMIC_RELEASE);
    } else if (pid > 0) {
        replace(serve, pid, status, &rusage);
    }
    return pid;
}

void serve_watch_pool(struct serve *serve) {
    while (!serve_over(serve)) {
        (void)take_ended(serve, 0);
    }
}

void serve_mend_pool(struct serve *serve) {
    while (take_ended(serve, WNOHANG) > 0) {
    }
}

/* A signal that comes before the sleep it should interrupt is lost: hence again and again. */
static void end(struct serve_slot *slot) {
    for (int i = 0; slot->pid > 0; i++) {
        kill(slot->pid, i < MOST_NUDGES ? SIGUSR1 : SIGKILL);
        pid_t pid = waitpid(slot->pid, NULL, WNOHANG);
        if (pid == slot->pid || (pid < 0 && errno != EINTR)) {
            slot->pid = 0;
        } else {
            sys_sleep(NUDGE_NS);
        }
    }
}

void serve_end_pool(struct serve *serve) {
    __atomic_store_n(&serve->shared->leave, 1U, __ATOMIC_RELEASE);
    for (int i = 0; i < serve->workers; i++) {
        end(&serve->shared->slots[i]);
    }
}
