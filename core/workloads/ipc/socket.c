/* ipc.unix_socket
 * Timed: as exchange.h says; the message is carried by write() and read() through a pair of unix stream
 * sockets with buffers of their default size, which copies it twice. Source: unix(7).
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "workloads/ipc/exchange.h"

static int open_pair(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    (void)exchange;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, lane->fds) == 0
               ? 0
               : reason_set(reason, -errno, "a pair of sockets cannot be created: %s", strerror(errno));
}

static const struct exchange_ways WAYS = {
    .receives = true,
    .descriptors = 2,
    .open = open_pair,
    .send = exchange_write,
    .receive = exchange_read,
};

EXCHANGE_WORKLOAD(ipc_unix_socket, "ipc.unix_socket", WAYS, NULL,
                  "messages through unix stream sockets: copied in and out");
