/* switch.unix_socket
 * Timed: as ring.h says; a task is woken by four bytes through a pair of unix stream sockets of its own,
 * which it reads. Alone, a task writes to its own pair and reads it. Source: unix(7); socketpair(2).
 */
#include <errno.h>
#include <sys/socket.h>

#include "workloads/switch/bytes.h"

static int open_pair(struct channel *channel) {
    return socketpair(AF_UNIX, SOCK_STREAM, 0, channel->fds) != 0 ? -errno : 0;
}

static const struct ring_ways WAYS = {
    .descriptors = 2, .open = open_pair, .wait = bytes_wait, .post = bytes_post};

RING_WORKLOAD(switch_unix_socket, "switch.unix_socket", WAYS,
              "a task wakes the next one through a pair of unix sockets and sleeps", RING_COLUMNS);
