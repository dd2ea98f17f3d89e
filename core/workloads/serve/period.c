/* One period of load: the server's processes, the client's signal to begin, what all of them used. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "probe/rows.h"
#include "workloads/serve/load.h"

enum { LOOK_AGAIN_US = 500000 };

/* A handler has no other way to know: there is one server in a process. */
static struct {
    struct serve *serve;
    int64_t deadline_ns;
} watched;

/* Interrupts what the server sleeps in, so that it sees the end, which its client makes known; and makes one
 * where nobody else can. */
static void look(int signal_number) {
    (void)signal_number;
    int saved = errno;
    struct serve *serve = watched.serve;
    siginfo_t ended = {.si_pid = 0};
    bool gone = serve->client > 0 &&
                waitid(P_PID, (id_t)serve->client, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                ended.si_pid != 0;
    if (gone || rows_monotonic_ns() > watched.deadline_ns) {
        serve->shared->client_error = gone ? ECHILD : ETIMEDOUT;
        __atomic_store_n(&serve->shared->over, 1U, __ATOMIC_RELEASE);
    }
    errno = saved;
}

static void interrupt_only(int signal_number) {
    (void)signal_number;
}

/* Without SA_RESTART: to interrupt is what they are for. */
static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(signal_number, &action, NULL);
}

/* One that comes late would interrupt what comes after the period. */
static void let_through(bool signals) {
    sigset_t looking;
    sigemptyset(&looking);
    sigaddset(&looking, SIGALRM);
    sigprocmask(signals ? SIG_UNBLOCK : SIG_BLOCK, &looking, NULL);
}

/* Rarely: where requests are rare, waking the server would be most of what they cost. */
static void set_timer(void) {
    struct itimerval again = {.it_interval = {.tv_usec = LOOK_AGAIN_US},
                              .it_value = {.tv_usec = LOOK_AGAIN_US}};
    setitimer(ITIMER_REAL, &again, NULL);
    let_through(true);
}

static void stop_timer(void) {
    struct itimerval never = {.it_value = {.tv_sec = 0}};
    let_through(false);
    setitimer(ITIMER_REAL, &never, NULL);
}

static void begin_load(struct serve *serve) {
    serve->period++;
    gate_open(&serve->shared->gate);
}

void serve_ready(struct serve *serve, int number) {
    struct serve_slot *slot = &serve->shared->slots[number];
    serve_usage_read(&slot->before);
    slot->ready_ticks = clock_read().ticks;
    if (serve->forked) {
        tally_add(&serve->shared->ready);
    } else {
        begin_load(serve);
    }
}

void serve_cannot(struct serve *serve, int error) {
    serve->shared->client_error = error;
    __atomic_store_n(&serve->shared->over, 1U, __ATOMIC_RELEASE);
    if (serve->forked) {
        tally_add(&serve->shared->ready);
    }
}

static void clear(struct serve *serve) {
    struct serve_shared *shared = serve->shared;
    shared->over = 0;
    shared->leave = 0;
    shared->client_error = 0;
    shared->used = (struct serve_usage){0};
    shared->crash_ticks = 0;
    shared->dead_tasks = 0;
    serve->live = 1;
}

/* Longer than the client waits for the last answer. */
static int64_t deadline(const struct serve *serve) {
    static const int64_t MARGIN_NS = 10000000000;
    return rows_monotonic_ns() + 2 * serve->request->load_ns + LOAD_PATIENCE_NS + MARGIN_NS;
}

/* The client need not go on telling. */
static void have_seen_the_end(struct serve *serve) {
    __atomic_store_n(&serve->shared->over, SERVE_END_SEEN, __ATOMIC_RELEASE);
}

static int run_pool(struct serve *serve, int processes, struct serve_period *period) {
    int error = serve_start_pool(serve, processes);
    struct serve_usage before;
    struct serve_usage after;
    serve_usage_read_self(&before);
    if (error == 0) {
        handle(SIGCHLD, serve->design->accept != NULL ? interrupt_only : SIG_DFL);
        begin_load(serve);
        (serve->design->accept != NULL ? serve->design->accept : serve_watch_pool)(serve);
        have_seen_the_end(serve);
        period->pss = serve_pss(serve);
    }
    handle(SIGCHLD, SIG_DFL);
    serve_usage_read_self(&after);
    serve_end_pool(serve);
    serve_usage_add(&period->used, &before, &after);
    return error;
}

int serve_run_period(struct serve *serve, struct serve_period *period) {
    /* Anew each time: the CPUs' frequency was read meanwhile, on all of them. */
    int error = sys_allow(&serve->server_cpus);
    if (error != 0) {
        return error;
    }
    clear(serve);
    watched.serve = serve;
    watched.deadline_ns = deadline(serve);
    handle(SIGUSR1, interrupt_only);
    handle(SIGALRM, look);
    set_timer();
    int processes = serve->design->processes(serve);
    if (processes > 0) {
        error = run_pool(serve, processes, period);
    } else {
        serve->design->serve(serve, 0);
        have_seen_the_end(serve);
        struct serve_usage after;
        serve_usage_read(&after);
        serve_usage_add(&period->used, &serve->shared->slots[0].before, &after);
        period->pss = serve_pss(serve);
    }
    stop_timer();
    serve_drain(serve);
    serve_usage_add(&period->used, &(struct serve_usage){0}, &serve->shared->used);
    return error != 0 ? error : -serve->shared->client_error;
}
