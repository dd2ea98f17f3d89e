/* ipc.posix_queue
 * Timed: as exchange.h says; the message is carried by a POSIX message queue, which copies it twice, in
 * pieces of the largest size that an unprivileged queue may have (fs.mqueue.msgsize_max, 8 KiB by default).
 * The system calls are made directly, since older C libraries keep them in a library of their own. Source:
 * mq_overview(7).
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/ipc/exchange.h"

enum { DEFAULT_MESSAGES = 10, DEFAULT_BYTES = 8192 };

static long limit(const char *path, long fallback) {
    char text[32];
    long value = sys_read_file(path, text, sizeof text) > 0 ? strtol(text, NULL, 10) : 0;
    return value > 0 ? value : fallback;
}

/* A queue without a name: it goes when the last task that has it open does. A descriptor or -errno. */
static int make_queue(long messages, long bytes) {
    char name[40];
    struct mq_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.mq_maxmsg = messages;
    attributes.mq_msgsize = bytes;
    /* The system call takes names without the slash. */
    snprintf(name, sizeof name, "clonometer-%d", (int)getpid());
    int fd = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (fd < 0) {
        return -errno;
    }
    syscall(SYS_mq_unlink, name);
    return fd;
}

static int open_queue(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    long messages = limit("/proc/sys/fs/mqueue/msg_max", DEFAULT_MESSAGES);
    long bytes = limit("/proc/sys/fs/mqueue/msgsize_max", DEFAULT_BYTES);
    messages = messages < DEFAULT_MESSAGES ? messages : DEFAULT_MESSAGES;
    bytes = bytes < EXCHANGE_MOST_PIECE_BYTES ? bytes : EXCHANGE_MOST_PIECE_BYTES;
    bytes = (size_t)bytes < exchange->size ? bytes : (long)exchange->size;
    int fd = make_queue(messages, bytes);
    if (fd < 0) {
        return reason_set(reason, fd == -EMFILE ? -EAGAIN : fd,
                          "a POSIX queue of %ld messages of %ld bytes cannot be created: %s (see ulimit -q "
                          "and fs.mqueue.queues_max)",
                          messages, bytes, strerror(-fd));
    }
    lane->fds[0] = fd;
    lane->piece_bytes = (size_t)bytes;
    return 0;
}

static int send(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    int error = 0;
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        size_t rest = exchange->size - at;
        size_t piece = rest < lane->piece_bytes ? rest : lane->piece_bytes;
        long sent = syscall(SYS_mq_timedsend, lane->fds[0], message + at, piece, 0U, NULL);
        error = exchange_carried(exchange, sent == 0 ? (ssize_t)piece : sent, &at);
    }
    return error;
}

static int receive(struct exchange *exchange, int side, struct lane *lane, unsigned char **message) {
    unsigned char *into = exchange->sides[side].in;
    int error = 0;
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        long got = syscall(SYS_mq_timedreceive, lane->fds[0], into + at, lane->piece_bytes, NULL, NULL);
        error = exchange_carried(exchange, got, &at);
    }
    *message = into;
    return error;
}

static int available(struct reason *reason) {
    int fd = make_queue(1, 1);
    if (fd < 0) {
        return reason_set(reason, fd, "a POSIX queue cannot be created: %s", strerror(-fd));
    }
    close(fd);
    return 0;
}

static const struct exchange_ways WAYS = {
    .receives = true,
    .descriptors = 1,
    .open = open_queue,
    .send = send,
    .receive = receive,
};

EXCHANGE_WORKLOAD(ipc_posix_queue, "ipc.posix_queue", WAYS, available,
                  "messages through a POSIX message queue: copied in and out, piece by piece");
