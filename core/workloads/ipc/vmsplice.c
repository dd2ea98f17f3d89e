/* ipc.vmsplice
 * Timed: as exchange.h says; the sender hands its pages to a pipe with vmsplice(), the receiver read()s them,
 * which copies the message once. The sender writes to a page again only when the receiver has said, by a
 * count in shared memory, that it has read the message. Source: vmsplice(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workloads/ipc/exchange.h"

static int send(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    int error = 0;
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        struct iovec rest = {.iov_base = (void *)(message + at), .iov_len = exchange->size - at};
        error = exchange_carried(exchange, vmsplice(lane->fds[1], &rest, 1, 0), &at);
    }
    return error;
}

/* Whether a sandbox forbids the call. */
static int available(struct reason *reason) {
    struct iovec nothing = {.iov_len = 0};
    return vmsplice(-1, &nothing, 1, 0) == 0 || errno == EBADF
               ? 0
               : reason_set(reason, -errno, "vmsplice: %s", strerror(errno));
}

static const struct exchange_ways WAYS = {
    .receives = true,
    .frees = true,
    .descriptors = 2,
    .open = exchange_open_pipe,
    .send = send,
    .receive = exchange_read,
};

EXCHANGE_WORKLOAD(ipc_vmsplice, "ipc.vmsplice", WAYS, available,
                  "messages whose pages are put into a pipe: copied out only");
