#include "workloads/serve/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_EVENTS = 64 };

/* Once: whoever is told goes on until it must wait again. */
static void watch(struct loop *loop, int fd, uint32_t events) {
    struct loop_visit *visit = &loop->visits[fd];
    struct epoll_event event = {.events = events | EPOLLONESHOT, .data.fd = fd};
    int how = visit->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    visit->watched = true;
    (void)epoll_ctl(loop->epoll, how, fd, &event);
}

static void start_over(struct loop_visit *visit) {
    *visit = (struct loop_visit){.watched = visit->watched};
}

void loop_take_back(struct loop *loop, int fd) {
    start_over(&loop->visits[fd]);
    watch(loop, fd, EPOLLIN);
}

bool loop_write(struct loop *loop, int fd) {
    struct loop_visit *visit = &loop->visits[fd];
    int error = serve_write_some(loop->serve, fd, visit->served, &visit->written);
    if (error == -EAGAIN) {
        watch(loop, fd, EPOLLOUT);
        return false;
    }
    if (error != 0 || !loop->serve->kept) {
        close(fd);
        return false;
    }
    start_over(visit);
    return true;
}

/* Reads what is there. */
static void read_all(struct loop *loop, int fd) {
    char piece[SERVE_READ_BYTES];
    for (;;) {
        ssize_t length = read(fd, piece, sizeof piece);
        if (length < 0 && errno == EAGAIN) {
            watch(loop, fd, EPOLLIN);
            return;
        }
        if (length == 0 || (length < 0 && errno != EINTR)) {
            close(fd);
            return;
        }
        bool whole = length > 0 && serve_take(&loop->visits[fd].reading, piece, (size_t)length);
        if (whole && !loop->request(loop, fd)) {
            return;
        }
    }
}

/* The request is often there already: it is read before anything is asked. */
static void accept_next(struct loop *loop) {
    int fd = serve_accept(loop->serve, loop->listener, SOCK_NONBLOCK);
    if (fd >= LOOP_MOST_FILES) {
        close(fd);
    } else if (fd >= 0) {
        loop->visits[fd] = (struct loop_visit){.served = 0};
        read_all(loop, fd);
    }
}

void loop_run(struct loop *loop) {
    struct epoll_event events[MOST_EVENTS];
    while (!serve_over(loop->serve)) {
        int count = epoll_wait(loop->epoll, events, MOST_EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == loop->listener) {
                accept_next(loop);
            } else if (loop->visits[fd].served == 0 || loop_write(loop, fd)) {
                read_all(loop, fd);
            }
        }
    }
}

struct loop *loop_open(struct serve *serve, int listener, bool shared,
                       bool (*request)(struct loop *loop, int fd)) {
    struct loop *loop = mmap(NULL, sizeof *loop, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (loop == MAP_FAILED) {
        return NULL;
    }
    loop->serve = serve;
    loop->listener = listener;
    loop->request = request;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        loop_close(loop);
        return NULL;
    }
    struct epoll_event event = {.events = EPOLLIN | (shared ? EPOLLEXCLUSIVE : 0), .data.fd = listener};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, listener, &event) != 0) {
        loop_close(loop);
        return NULL;
    }
    return loop;
}

/* Connections that are still open end with it. */
void loop_close(struct loop *loop) {
    if (loop->epoll >= 0) {
        close(loop->epoll);
    }
    munmap(loop, sizeof *loop);
}
