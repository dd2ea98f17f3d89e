/* connection.tcp
 * Timed: what a server does for a connection of its own to a client over loopback, without waiting:
 * accept4(), recv() of a request of 128 bytes, send() of an answer of 1 KiB, close(). Outside: the client's
 * part, in the same task: it has connected and sent its request before, and reads the answer to its end
 * afterwards. Bias: nobody waits and nobody is woken, so that a server that sleeps between its requests pays
 * more (serve.inline). send() over loopback also puts the answer into the client's buffer. Source: tcp(7).
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/workload.h"

/* As serve.* has them by default. */
enum { REQUEST_BYTES = 128, ANSWER_BYTES = 1024, BACKLOG = 8 };

struct server {
    int listening;
    struct sockaddr_in address;
    char bytes[ANSWER_BYTES];
};

static int listen_on(struct server *server) {
    socklen_t length = sizeof server->address;
    struct sockaddr *address = (struct sockaddr *)(void *)&server->address;
    server->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return server->listening >= 0 && bind(server->listening, address, length) == 0 &&
                   listen(server->listening, BACKLOG) == 0 &&
                   getsockname(server->listening, address, &length) == 0
               ? 0
               : -errno;
}

static void finish(struct bench *bench) {
    struct server *server = bench->state;
    if (server->listening >= 0) {
        close(server->listening);
    }
    munmap(server, sizeof *server);
    bench->state = NULL;
}

/* A client that has connected and asked; or -errno. */
static int connected(const struct server *server) {
    /* Its end is a reset, so that the server's port is soon free again: many connections follow. */
    const struct linger at_once = {.l_onoff = 1};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0) {
        return -errno;
    }
    (void)setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    int error = 0;
    if (connect(client, (const struct sockaddr *)(const void *)&server->address, sizeof server->address) !=
        0) {
        error = -errno;
    } else {
        ssize_t sent = send(client, server->bytes, REQUEST_BYTES, MSG_NOSIGNAL);
        error = sent < 0 ? -errno : sent == REQUEST_BYTES ? 0 : -EIO;
    }
    if (error != 0) {
        close(client);
        return error;
    }
    return client;
}

static int serve(const struct server *server) {
    char request[REQUEST_BYTES];
    int connection = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
        return -errno;
    }
    bool answered = recv(connection, request, sizeof request, 0) == REQUEST_BYTES &&
                    send(connection, server->bytes, ANSWER_BYTES, MSG_NOSIGNAL) == ANSWER_BYTES;
    close(connection);
    return answered ? 0 : -EIO;
}

static int one_connection(const struct server *server, struct timed_row *row) {
    int client = connected(server);
    if (client < 0) {
        return client;
    }
    struct stamp start = clock_read();
    int error = serve(server);
    row->ticks = clock_read().ticks - start.ticks;
    row->sample.cpu_before = (int32_t)start.cpu;
    char answer[ANSWER_BYTES];
    size_t had = 0;
    for (ssize_t bytes = 1; error == 0 && bytes > 0; had += bytes > 0 ? (size_t)bytes : 0) {
        bytes = recv(client, answer, sizeof answer, 0);
    }
    close(client);
    return error != 0 ? error : had == ANSWER_BYTES ? 0 : -EBADMSG;
}

static int launch(const struct bench *bench, struct sample *sample) {
    return one_connection(bench->state, (struct timed_row *)(void *)sample);
}

/* Not in static memory: see struct program in probe/workload.h. */
static int prepare(struct bench *bench, struct reason *reason) {
    struct server *server =
        mmap(NULL, sizeof *server, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (server == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for a server: %s", strerror(errno));
    }
    memset(server->bytes, 'x', sizeof server->bytes);
    bench->state = server;
    int error = listen_on(server);
    error = error != 0 ? error : one_connection(server, &(struct timed_row){0});
    if (error != 0) {
        finish(bench);
        return reason_set(reason, -EOPNOTSUPP, "no connection over 127.0.0.1: %s", strerror(-error));
    }
    return 0;
}

static const struct column COLUMNS[] = {
    {"closed_ns", COLUMN_DURATION, offsetof(struct timed_row, ticks), NULL,
     "a connection is accepted, its request read, answered and the connection closed"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload connection_tcp = {
    .id = "connection.tcp",
    .family = "connection",
    .summary = "a server's part of a connection over loopback: accepted, read, answered, closed",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .prepare = prepare,
    ROWS_OF(timed_row),
    .launch = launch,
    .finish = finish,
};
