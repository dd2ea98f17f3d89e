/* switch.eventfd
 * Timed: as ring.h says; a task is woken by a write to an eventfd of its own, which it reads. Alone, a task
 * writes to its own and reads it. Source: eventfd(2).
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "workloads/switch/ring.h"

static int open_eventfd(struct channel *channel) {
    channel->fds[0] = eventfd(0, 0);
    return channel->fds[0] < 0 ? -errno : 0;
}

static int wait(struct ring *ring, int task) {
    uint64_t count;
    while (read(ring->channels[task].fds[0], &count, sizeof count) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
        if (team_over(ring->team)) {
            return -ECHILD;
        }
    }
    return 0;
}

static int post(struct ring *ring, int task) {
    static const uint64_t ONE = 1;
    while (write(ring->channels[task].fds[0], &ONE, sizeof ONE) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static const struct ring_ways WAYS = {.descriptors = 1, .open = open_eventfd, .wait = wait, .post = post};

RING_WORKLOAD(switch_eventfd, "switch.eventfd", WAYS,
              "a task wakes the next one through an eventfd and sleeps", RING_COLUMNS);
