/* Listening sockets: of the abstract namespace, which leaves no file behind, or TCP on loopback. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "workloads/serve/serve.h"

enum { WAITING = 4096 }; /* connections that may wait; the kernel's own limit (somaxconn) may be lower */

static bool by_tcp(const struct serve *serve) {
    return serve->request->transport == TRANSPORT_TCP;
}

static void name_it(struct serve *serve) {
    if (by_tcp(serve)) {
        serve->address.in =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        serve->address_bytes = sizeof serve->address.in;
        return;
    }
    serve->address.un = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(serve->address.un.sun_path + 1, sizeof serve->address.un.sun_path - 1,
                          "clonometer-serve-%d", (int)getpid());
    serve->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Two containers may have one network and the same numbers of processes: the kernel then chooses a name. */
static int give_name(const struct serve *serve, int fd) {
    if (bind(fd, &serve->address.any, serve->address_bytes) == 0) {
        return 0;
    }
    if (errno != EADDRINUSE || by_tcp(serve)) {
        return -errno;
    }
    return bind(fd, &serve->address.any, sizeof serve->address.any.sa_family) == 0 ? 0 : -errno;
}

/* One socket. The first of several TCP ones chooses the port. */
static int open_listener(struct serve *serve, bool several, int *listener) {
    int flags = SOCK_STREAM | SOCK_CLOEXEC | (serve->design->multiplexes ? SOCK_NONBLOCK : 0);
    int fd = socket(serve->address.any.sa_family, flags, 0);
    if (fd < 0) {
        return -errno;
    }
    *listener = fd;
    int yes = 1;
    if (several && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0) {
        return -errno;
    }
    int error = give_name(serve, fd);
    if (error == 0 && listen(fd, WAITING) != 0) {
        error = -errno;
    }
    serve->address_bytes = sizeof serve->address;
    if (error == 0 && getsockname(fd, &serve->address.any, &serve->address_bytes) != 0) {
        error = -errno;
    }
    return error;
}

/* A new network namespace has a loopback interface that is down: sockets can be made, but not connected. */
static int try_it(const struct serve *serve) {
    int fd = socket(serve->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    int error = connect(fd, &serve->address.any, serve->address_bytes) != 0 ? -errno : 0;
    close(fd);
    serve_drain(serve);
    return error;
}

int serve_listen(struct serve *serve, struct reason *reason) {
    name_it(serve);
    int error = 0;
    for (int i = 0; error == 0 && i < serve->listener_count; i++) {
        error = open_listener(serve, serve->listener_count > 1, &serve->listeners[i]);
    }
    error = error != 0 ? error : try_it(serve);
    if (error != 0 && by_tcp(serve)) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "TCP on loopback does not work here: %s; bring the interface up with ip link set lo "
            "up, or choose transport=unix",
            strerror(-error));
    }
    return error != 0 ? reason_set(reason, -EOPNOTSUPP, "the server cannot listen: %s", strerror(-error)) : 0;
}

void serve_drain(const struct serve *serve) {
    for (int i = 0; i < serve->listener_count; i++) {
        int flags = fcntl(serve->listeners[i], F_GETFL);
        (void)fcntl(serve->listeners[i], F_SETFL, flags | O_NONBLOCK);
        for (int fd = 0; fd >= 0;) {
            fd = accept(serve->listeners[i], NULL, NULL);
            if (fd >= 0) {
                close(fd);
            }
        }
        (void)fcntl(serve->listeners[i], F_SETFL, flags);
    }
}

int serve_connect(const struct serve *serve, int *error) {
    int fd = socket(serve->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        *error = -errno;
        return fd;
    }
    if (by_tcp(serve)) {
        int yes = 1;
        struct linger at_once = {.l_onoff = 1}; /* no state is left in the kernel (TIME_WAIT) */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    *error = connect(fd, &serve->address.any, serve->address_bytes) != 0 ? -errno : 0;
    return fd;
}

int serve_accept(const struct serve *serve, int listener, int flags) {
    while (!serve_over(serve)) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | flags);
        if (fd >= 0) {
            if (by_tcp(serve)) {
                int yes = 1;
                (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            }
            return fd;
        }
        if (errno == EAGAIN && (flags & SOCK_NONBLOCK) != 0) {
            return -EAGAIN;
        }
        /* Few descriptors: whoever has one gives it back. */
        if (errno == EMFILE || errno == ENFILE) {
            sys_sleep(1000000);
        } else if (errno == EINTR) {
            return -EAGAIN;
        }
    }
    return -EINTR;
}
