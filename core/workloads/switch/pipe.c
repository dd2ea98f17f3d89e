/* switch.pipe
 * Timed: as ring.h says; a task is woken by four bytes through a pipe of its own, which it reads. Alone, a
 * task writes to its own pipe and reads it, which never blocks. Source: pipe(7); perf bench sched pipe, whose
 * operation is two hand-overs.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/switch/bytes.h"

static int open_pipe(struct channel *channel) {
    return pipe(channel->fds) != 0 ? -errno : 0;
}

static const struct ring_ways WAYS = {
    .descriptors = 2, .open = open_pipe, .wait = bytes_wait, .post = bytes_post};

RING_WORKLOAD(switch_pipe, "switch.pipe", WAYS, "a task wakes the next one through a pipe and sleeps",
              RING_COLUMNS);
