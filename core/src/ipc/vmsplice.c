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

#include "ipc/exchange.h"

static int open_pipe(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    (void)exchange;
    return pipe(lane->fds) == 0 ? 0 : reason_set(reason, -errno, "no pipe can be made: %s", strerror(errno));
}

static int send(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    for (size_t at = 0; at < exchange->size;) {
        struct iovec rest = {.iov_base = (void *)(message + at), .iov_len = exchange->size - at};
        ssize_t put = vmsplice(lane->fds[1], &rest, 1, 0);
        if (put < 0 && errno != EINTR) {
            return -errno;
        }
        if (put < 0 && team_over(exchange->team)) {
            return -ECHILD;
        }
        at += put > 0 ? (size_t)put : 0;
    }
    return 0;
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
    .open = open_pipe,
    .send = send,
    .receive = exchange_read,
};

EXCHANGE_WORKLOAD(ipc_vmsplice, "ipc.vmsplice", WAYS, available,
                  "messages whose pages are put into a pipe: copied out only");
