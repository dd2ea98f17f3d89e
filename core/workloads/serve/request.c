/* Requests and answers, the least that is HTTP/1.1: no heap, no stdio, and a head of fixed length. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/parent/parts.h"
#include "workloads/serve/text.h"

enum { PAGE_BYTES = 4096 };

static const char END[] = "\r\n\r\n";
static const char HEAD_KEPT[] = "HTTP/1.1 200 OK\r\nContent-Length: 0000000000\r\n"
                                "Connection: keep-alive\r\nX-Served: 0000000000000\r\n\r\n";
static const char HEAD_CLOSED[] = "HTTP/1.1 200 OK\r\nContent-Length: 0000000000\r\n"
                                  "Connection: close     \r\nX-Served: 0000000000000\r\n\r\n";
_Static_assert(sizeof HEAD_KEPT == TEXT_HEAD_BYTES + 1 && sizeof HEAD_CLOSED == TEXT_HEAD_BYTES + 1,
               "heads are of one length");

bool serve_take(struct serve_reading *reading, const char *piece, size_t length) {
    enum { FIRST_BYTES = sizeof reading->first, LAST_BYTES = sizeof reading->last };
    for (size_t i = 0; i < length && reading->bytes + i < FIRST_BYTES; i++) {
        reading->first[reading->bytes + i] = piece[i];
    }
    size_t kept = length < LAST_BYTES ? LAST_BYTES - length : 0;
    memmove(reading->last, reading->last + LAST_BYTES - kept, kept);
    memcpy(reading->last + kept, piece + length - (LAST_BYTES - kept), LAST_BYTES - kept);
    reading->bytes += length;
    return reading->bytes >= LAST_BYTES && memcmp(reading->last, END, LAST_BYTES) == 0;
}

/* The number in "GET /0000000012 HTTP/1.1"; -1 where another client asks for something else. */
static int64_t number_of(const struct serve_reading *reading) {
    static const char START[] = "GET /";
    size_t at = sizeof START - 1;
    if (memcmp(reading->first, START, at) != 0 || reading->first[at] < '0' || reading->first[at] > '9') {
        return -1;
    }
    int64_t number = 0;
    for (; at < sizeof reading->first && reading->first[at] >= '0' && reading->first[at] <= '9'; at++) {
        number = number * 10 + (reading->first[at] - '0');
    }
    return number;
}

int serve_read(const struct serve *serve, int fd, struct serve_reading *reading) {
    char piece[SERVE_READ_BYTES];
    memset(reading, 0, sizeof *reading);
    for (;;) {
        ssize_t length = read(fd, piece, sizeof piece);
        if (length > 0 && serve_take(reading, piece, (size_t)length)) {
            return 0;
        }
        if (length == 0 || (length < 0 && errno != EINTR)) {
            return length == 0 ? -ECONNRESET : -errno;
        }
        if (length < 0 && serve_over(serve)) {
            return -ECANCELED;
        }
    }
}

static void write_digits(char *end, uint64_t number) {
    for (; number > 0; number /= 10) {
        *--end = (char)('0' + number % 10);
    }
}

void text_head(const struct serve *serve, int64_t served_ns, char *head) {
    memcpy(head, serve->kept ? HEAD_KEPT : HEAD_CLOSED, TEXT_HEAD_BYTES);
    write_digits(head + TEXT_LENGTH_END, (uint64_t)serve->body_bytes);
    write_digits(head + TEXT_SERVED_END, (uint64_t)served_ns);
}

int serve_write_some(const struct serve *serve, int fd, int64_t served_ns, size_t *written) {
    char head[TEXT_HEAD_BYTES];
    text_head(serve, served_ns, head);
    size_t all = sizeof head + serve->body_bytes;
    while (*written < all) {
        size_t of_body = *written > sizeof head ? *written - sizeof head : 0;
        size_t of_head = *written < sizeof head ? *written : sizeof head;
        struct iovec parts[2] = {{head + of_head, sizeof head - of_head},
                                 {serve->body + of_body, serve->body_bytes - of_body}};
        ssize_t length = writev(fd, parts, 2);
        if (length < 0 && errno != EINTR) {
            return -errno;
        }
        *written += length > 0 ? (size_t)length : 0;
    }
    return 0;
}

int serve_write(const struct serve *serve, int fd, int64_t served_ns) {
    enum { LOOK_AFTER_MS = 100 };
    size_t written = 0;
    for (;;) {
        int error = serve_write_some(serve, fd, served_ns, &written);
        if (error != -EAGAIN || serve_over(serve)) {
            return error;
        }
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        (void)poll(&room, 1, LOOK_AFTER_MS);
    }
}

/* A bug in the code of a request. No core is dumped: that would take the longest of all. */
static void crash(const struct serve *serve) {
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0);
    signal(SIGSEGV, SIG_DFL);
    if (serve->shared != NULL) {
        serve->shared->dead_tasks = __atomic_load_n(&serve->live, __ATOMIC_RELAXED);
        serve->shared->crash_ticks = clock_read().ticks;
    }
    volatile int *volatile nowhere = NULL;
    *nowhere = 1; /* NOLINT(clang-analyzer-core.NullDereference): it is meant to */
}

int64_t serve_work(const struct serve *serve, const struct serve_reading *reading, uint64_t ticks) {
    if (serve->crash_number >= 0 && number_of(reading) == serve->crash_number) {
        crash(serve);
    }
    volatile unsigned char *memory = serve->memory;
    for (int64_t at = 0; at < serve->dirtied_bytes; at += PAGE_BYTES) {
        memory[at]++;
    }
    serve_burn(serve->iterations);
    if (serve->block_ns > 0) {
        sys_sleep(serve->block_ns);
    }
    return clock_ns((int64_t)(clock_read().ticks - ticks));
}

void serve_connection(const struct serve *serve, int fd) {
    struct serve_reading reading;
    int error = 0;
    do {
        error = serve_read(serve, fd, &reading);
        if (error == 0) {
            int64_t served_ns = serve_work(serve, &reading, clock_read().ticks);
            error = serve_write(serve, fd, served_ns);
        }
    } while (error == 0 && serve->kept);
    close(fd);
}
