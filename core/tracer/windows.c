#include "tracer/windows.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* 1: readable; 0: the time is over. */
static int await(int fd, uint64_t until_ns) {
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    for (;;) {
        uint64_t now = now_ns();
        uint64_t left = until_ns > now ? until_ns - now : 0;
        struct timespec rest = {.tv_sec = (time_t)(left / 1000000000U),
                                .tv_nsec = (long)(left % 1000000000U)};
        int ready = ppoll(&readable, 1, &rest, NULL);
        if (ready >= 0 || errno != EINTR) {
            return ready < 0 ? -errno : ready;
        }
    }
}

static int turn(bool listen, struct rings *rings, struct fast *fast) {
    if (listen) {
        rings_start(rings);
        return fast_resume(fast);
    }
    fast_pause(fast);
    rings_stop(rings);
    return 0;
}

int windows_alternate(struct windows *windows, int readable, uint64_t each_ns, struct rings *rings,
                      struct fast *fast) {
    bool listened = true;
    windows->count = 0;
    for (;;) {
        uint64_t begin_ns = now_ns();
        int ready = await(readable, begin_ns + each_ns);
        windows->window[windows->count++] =
            (struct window){.begin_ns = begin_ns, .end_ns = now_ns(), .listened = listened};
        if (ready != 0 || windows->count == WINDOWS_MOST) {
            return ready < 0 ? ready : 0;
        }
        listened = !listened;
        int error = turn(listened, rings, fast);
        if (error != 0) {
            return error;
        }
    }
}
