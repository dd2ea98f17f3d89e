#include "workloads/serve/load.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "workloads/serve/text.h"

enum {
    READ_BYTES = 64 << 10,
    MOST_EVENTS = 64,
    LEAD_NS = 2000000, /* from the start of a period until its load starts */
    SPIN_NS = 80000,   /* timers are late by as much; waited out awake where nobody else needs the CPU */
    NUDGE_NS = 1000000,
    MOST_NUDGES = 10000,
    LOWEST_TO_CLOSE = 3,
    MOST_TO_CLOSE = 1024,
    LOOK_AFTER_NS = 50000000,
    FIRST_DIGIT = 5, /* in "GET /0000000012 HTTP/1.1" */
    DIGITS = 10
};

struct visit {
    int fd;         /* -1: not connected */
    int64_t number; /* of its request; -1: idle */
    size_t sent;
    size_t received;
    char head[TEXT_HEAD_BYTES];
};

/* The client's own memory. */
struct load {
    struct serve *serve;
    struct serve_result *results;
    int64_t due;  /* requests whose time has come */
    int64_t sent; /* of which have been begun */
    int64_t finished;
    int epoll;
    int clients;
    int idle_count;
    int idle[SERVE_MOST_CLIENTS];
    struct visit visits[SERVE_MOST_CLIENTS];
    char buffer[READ_BYTES];
    size_t text_bytes;
    char text[];
};

static int64_t now_ns(const struct load *load) {
    return clock_ns((int64_t)(clock_read().ticks - load->serve->shared->start_ticks));
}

static void watch(const struct load *load, int index, int how, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)index};
    (void)epoll_ctl(load->epoll, how, load->visits[index].fd, &event);
}

static void hang_up(struct visit *visit) {
    if (visit->fd >= 0) {
        close(visit->fd);
        visit->fd = -1;
    }
}

/* The request is answered, or never will be. */
static void end_request(struct load *load, int index, int error) {
    struct visit *visit = &load->visits[index];
    struct serve_result *result = &load->results[visit->number];
    result->error = -error;
    if (error == 0) {
        int64_t served = 0;
        for (int i = TEXT_SERVED_END - TEXT_SERVED_DIGITS; i < TEXT_SERVED_END; i++) {
            served = served * 10 + (visit->head[i] - '0');
        }
        result->served = served;
        result->latency = now_ns(load) - result->intended;
    }
    if (error != 0 || !load->serve->kept) {
        hang_up(visit);
    }
    visit->number = -1;
    load->idle[load->idle_count++] = index;
    load->finished++;
}

static void send_text(struct load *load, int index) {
    struct visit *visit = &load->visits[index];
    char *end = load->text + FIRST_DIGIT + DIGITS;
    int64_t number = visit->number;
    for (int i = 1; i <= DIGITS; i++, number /= 10) {
        end[-i] = (char)('0' + number % 10);
    }
    while (visit->sent < load->text_bytes) {
        ssize_t length =
            send(visit->fd, load->text + visit->sent, load->text_bytes - visit->sent, MSG_NOSIGNAL);
        if (length < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN)) {
            watch(load, index, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        if (length < 0) {
            end_request(load, index, -errno);
            return;
        }
        visit->sent += (size_t)length;
    }
}

static void begin_request(struct load *load) {
    int index = load->idle[--load->idle_count];
    struct visit *visit = &load->visits[index];
    visit->number = load->sent++;
    visit->sent = 0;
    visit->received = 0;
    if (visit->fd < 0) {
        int error = 0;
        visit->fd = serve_connect(load->serve, &error);
        if (error != 0 && error != -EINPROGRESS) {
            end_request(load, index, error == -EAGAIN ? -ECONNREFUSED : error);
            return;
        }
        watch(load, index, EPOLL_CTL_ADD, EPOLLIN);
    }
    send_text(load, index);
}

static void receive(struct load *load, int index) {
    struct visit *visit = &load->visits[index];
    size_t all = TEXT_HEAD_BYTES + load->serve->body_bytes;
    while (visit->number >= 0) {
        ssize_t length = recv(visit->fd, load->buffer, sizeof load->buffer, 0);
        if (length < 0 && errno == EAGAIN) {
            return;
        }
        if (length <= 0) {
            end_request(load, index, length == 0 ? -ECONNRESET : -errno);
            return;
        }
        for (ssize_t i = 0; i < length && visit->received + (size_t)i < TEXT_HEAD_BYTES; i++) {
            visit->head[visit->received + (size_t)i] = load->buffer[i];
        }
        visit->received += (size_t)length;
        if (visit->received >= all) {
            end_request(load, index, 0);
        } else if ((size_t)length < sizeof load->buffer) {
            return;
        }
    }
}

static void handle(struct load *load, const struct epoll_event *event) {
    int index = (int)event->data.u32;
    struct visit *visit = &load->visits[index];
    if (visit->number < 0) {
        hang_up(visit); /* the server has ended a kept connection */
        return;
    }
    if ((event->events & EPOLLOUT) != 0) {
        watch(load, index, EPOLL_CTL_MOD, EPOLLIN);
        send_text(load, index);
    }
    if ((event->events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        receive(load, index);
    }
}

/* Until something happens or the next request is due. */
static void await(struct load *load, int64_t pause_ns) {
    struct epoll_event events[MOST_EVENTS];
    int64_t sleep_ns = load->serve->client_apart ? pause_ns - SPIN_NS : pause_ns;
    if (sleep_ns > 0) {
        struct timespec limit = {.tv_nsec = sleep_ns < LOOK_AFTER_NS ? sleep_ns : LOOK_AFTER_NS};
        struct pollfd ready = {.fd = load->epoll, .events = POLLIN};
        (void)ppoll(&ready, 1, &limit, NULL);
    }
    int count = epoll_wait(load->epoll, events, MOST_EVENTS, 0);
    for (int i = 0; i < count; i++) {
        handle(load, &events[i]);
    }
}

/* Requests whose time has come wait for a connection in the order of their times. */
static void send_due(struct load *load) {
    int64_t count = load->serve->requests;
    for (int64_t now = now_ns(load); load->due < count && load->results[load->due].intended <= now;) {
        struct serve_result *result = &load->results[load->due++];
        result->late = now - result->intended;
        while (load->sent < load->due && load->idle_count > 0) {
            begin_request(load);
        }
        now = now_ns(load);
    }
    while (load->sent < load->due && load->idle_count > 0) {
        begin_request(load);
    }
}

static void give_up(struct load *load) {
    for (int i = 0; i < load->clients; i++) {
        if (load->visits[i].number >= 0) {
            end_request(load, i, -ETIMEDOUT);
        }
        hang_up(&load->visits[i]);
    }
    for (; load->sent < load->serve->requests; load->sent++) {
        load->results[load->sent].error = ETIMEDOUT;
    }
}

/* A signal that comes before the sleep it should interrupt is lost: hence again and again. */
static void tell_the_end(const struct serve *serve) {
    for (int i = 0; i < MOST_NUDGES && __atomic_load_n(&serve->shared->over, __ATOMIC_ACQUIRE) == 1; i++) {
        kill(serve->probe, SIGALRM);
        sys_sleep(NUDGE_NS);
    }
}

static void run_period(struct load *load, uint64_t seed) {
    struct serve *serve = load->serve;
    const struct request *request = serve->request;
    int64_t count = serve->requests;
    memset(load->results, 0, (size_t)count * sizeof *load->results);
    arrivals_plan(load->results, count, request->load_ns, request->arrivals == ARRIVALS_POISSON, seed);
    load->due = load->sent = load->finished = 0;
    load->idle_count = load->clients;
    for (int i = 0; i < load->clients; i++) {
        load->visits[i] = (struct visit){.fd = -1, .number = -1};
        load->idle[i] = i;
    }
    sys_sleep(LEAD_NS);
    serve->shared->start_ticks = clock_read().ticks;
    int64_t patience = request->load_ns > LOAD_PATIENCE_NS ? request->load_ns : LOAD_PATIENCE_NS;
    int64_t end = request->load_ns + patience;
    while (load->finished < count && now_ns(load) < end && !serve_over(serve)) {
        send_due(load);
        int64_t next = load->due < count ? load->results[load->due].intended : INT64_MAX / 2;
        await(load, next - now_ns(load));
    }
    give_up(load);
    __atomic_store_n(&serve->shared->over, 1U, __ATOMIC_RELEASE);
    tell_the_end(serve);
}

static void write_text(struct load *load) {
    static const char START[] = "GET /0000000000 HTTP/1.1\r\nHost: clonometer\r\nX: ";
    static const char END[] = "\r\n\r\n";
    size_t start = sizeof START - 1;
    size_t end = sizeof END - 1;
    memset(load->text, 'x', load->text_bytes);
    memcpy(load->text, START, start);
    memcpy(load->text + load->text_bytes - end, END, end);
}

/* The answer's descriptor is among those it closes: whoever reads it waits for its end. */
__attribute__((noreturn)) static void live(struct serve *serve) {
    prctl(PR_SET_NAME, "clonometer-load");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != serve->probe) {
        _exit(1);
    }
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int fd = LOWEST_TO_CLOSE; fd < MOST_TO_CLOSE; fd++) {
        close(fd);
    }
    size_t text_bytes = (size_t)serve->request->request_bytes;
    struct load *load = mmap(NULL, sizeof *load + text_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (load == MAP_FAILED || sys_allow(&serve->client_cpus) != 0) {
        _exit(1);
    }
    load->serve = serve;
    load->results = serve->shared->results;
    load->clients = (int)serve->request->clients;
    load->text_bytes = text_bytes;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    write_text(load);
    uint64_t seed = serve->request->arrival_seed != 0 ? (uint64_t)serve->request->arrival_seed
                                                      : clock_read().ticks ^ (uint64_t)getpid() << 32U;
    for (uint32_t period = 1; load->epoll >= 0; period++) {
        gate_pass(&serve->shared->gate, period);
        if (serve->shared->stop != 0) {
            _exit(0);
        }
        run_period(load, seed + period);
    }
    _exit(1);
}

int load_start(struct serve *serve) {
    pid_t pid = fork();
    if (pid == 0) {
        live(serve);
    }
    serve->client = pid > 0 ? pid : 0;
    return pid < 0 ? -errno : 0;
}

void load_end(struct serve *serve) {
    int status = 0;
    if (serve->client > 0) {
        serve->shared->stop = 1;
        gate_open(&serve->shared->gate);
        kill(serve->client, SIGKILL);
        (void)sys_wait(serve->client, &status);
        serve->client = 0;
    }
}
