/* ipc.pipe
 * Timed: as exchange.h says; the message is carried by write() and read() through a pipe of its default
 * capacity, which copies it twice. Source: pipe(7).
 */
#include "workloads/ipc/exchange.h"

static const struct exchange_ways WAYS = {
    .receives = true,
    .descriptors = 2,
    .open = exchange_open_pipe,
    .send = exchange_write,
    .receive = exchange_read,
};

EXCHANGE_WORKLOAD(ipc_pipe, "ipc.pipe", WAYS, NULL, "messages through a pipe: copied in and out");
