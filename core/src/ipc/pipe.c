/* ipc.pipe
 * Timed: as exchange.h says; the message is carried by write() and read() through a pipe of its default
 * capacity, which copies it twice. Source: pipe(7).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ipc/exchange.h"

static int open_pipe(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    (void)exchange;
    return pipe(lane->fds) == 0 ? 0 : reason_set(reason, -errno, "no pipe can be made: %s", strerror(errno));
}

static const struct exchange_ways WAYS = {
    .receives = true,
    .descriptors = 2,
    .open = open_pipe,
    .send = exchange_write,
    .receive = exchange_read,
};

EXCHANGE_WORKLOAD(ipc_pipe, "ipc.pipe", WAYS, NULL, "messages through a pipe: copied in and out");
