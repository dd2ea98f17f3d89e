#include "workloads/switch/bytes.h"

#include <errno.h>
#include <unistd.h>

/* As much as perf bench sched pipe sends. */
int bytes_wait(struct ring *ring, int task) {
    uint32_t message;
    ssize_t got;
    while ((got = read(ring->channels[task].fds[0], &message, sizeof message)) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
        if (team_over(ring->team)) {
            return -ECHILD;
        }
    }
    return got == (ssize_t)sizeof message ? 0 : -EPIPE;
}

/* What holds nothing takes four bytes at once. */
int bytes_post(struct ring *ring, int task) {
    uint32_t message = (uint32_t)task;
    while (write(ring->channels[task].fds[1], &message, sizeof message) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}
