/* serve.pass_fd: the probe accepts connections and passes their descriptors (SCM_RIGHTS) through one pair of
 * sockets, at which a pool of processes waits; the kernel gives each to the next that is free. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/serve/serve.h"

static int processes(const struct serve *serve) {
    return serve->workers;
}

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
};

/* A message of one byte and one descriptor. */
struct letter {
    char byte;
    struct iovec part;
    struct msghdr message;
    union control control;
};

static void write_envelope(struct letter *letter) {
    memset(letter, 0, sizeof *letter);
    letter->part = (struct iovec){&letter->byte, 1};
    letter->message.msg_iov = &letter->part;
    letter->message.msg_iovlen = 1;
    letter->message.msg_control = letter->control.bytes;
    letter->message.msg_controllen = sizeof letter->control.bytes;
}

static int take(const struct serve *serve) {
    struct letter letter;
    write_envelope(&letter);
    if (recvmsg(serve->pair[1], &letter.message, MSG_CMSG_CLOEXEC) <= 0) {
        return -errno;
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&letter.message);
    int fd = -1;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    }
    return fd;
}

static void serve_all(struct serve *serve, int number) {
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        int fd = take(serve);
        if (fd >= 0) {
            serve_connection(serve, fd);
        }
    }
}

/* Waits where the pair is full of connections that nobody has taken. */
static void pass(const struct serve *serve, int fd) {
    struct letter letter;
    write_envelope(&letter);
    struct cmsghdr *head = CMSG_FIRSTHDR(&letter.message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    while (sendmsg(serve->pair[0], &letter.message, MSG_NOSIGNAL) < 0 && errno == EINTR &&
           !serve_over(serve)) {
    }
}

/* A worker that dies interrupts accept by SIGCHLD, or is seen at the next connection. */
static void accept_all(struct serve *serve) {
    while (!serve_over(serve)) {
        serve_mend_pool(serve);
        int fd = serve_accept(serve, serve->listeners[0], 0);
        if (fd >= 0) {
            pass(serve, fd);
            close(fd);
        }
    }
}

static int answerers(const struct serve *serve) {
    return serve->workers;
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_all, .accept = accept_all, .answerers = answerers};

static int prepare(struct bench *bench, struct reason *reason) {
    int error = serve_prepare(bench, reason);
    struct serve *serve = bench->state;
    if (error == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, serve->pair) != 0) {
        error = reason_set(reason, -errno, "no pair of sockets: %s", strerror(errno));
        serve_finish(bench);
    }
    return error;
}

const struct workload serve_pass_fd = {
    .id = "serve.pass_fd",
    SERVE_FACTS,
    .summary = "a server whose acceptor passes connections to a pool of processes (SCM_RIGHTS)",
    .axes = SERVE_POOL_AXES,
    .about = &DESIGN,
    .prepare = prepare,
};
