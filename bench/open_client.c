/* A client of another make than serve.*'s, to check its latencies: an open loop at a set rate over TCP.
 *
 * Arrivals are a Poisson process (logarithms of uniform numbers). Each request has a connection of its own; all are
 * watched by poll(2). The last 100 us before a request is due are not slept: timers are late by as much. Latency is
 * from the intended time until the whole answer has been read, by its Content-Length. Written: a line a request, its
 * latency in ns, or -1. Usage: PORT RATE SECONDS SEED CPU */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100000, MOST_OPEN = 1024 };
static const char ASKED[] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
static const double PATIENCE_NS = 2e9;
static const double AWAKE_NS = 1e5;

static double intended[MOST];
static double taken[MOST]; /* -1: not answered */
static struct pollfd open_fds[MOST_OPEN];
static int number_of[MOST_OPEN];
static long missing[MOST_OPEN]; /* bytes of the answer; -1: it has not begun */
static int n_open;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void begin(int number, int port) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (fd < 0 || n_open == MOST_OPEN || connect(fd, (struct sockaddr *)&where, sizeof where) != 0 ||
        write(fd, ASKED, sizeof ASKED - 1) != (ssize_t)(sizeof ASKED - 1)) {
        close(fd);
        return;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    open_fds[n_open] = (struct pollfd){.fd = fd, .events = POLLIN};
    missing[n_open] = -1;
    number_of[n_open++] = number;
}

/* Reads what is there. The head comes in one piece: it is short. */
static void read_from(int place, double origin) {
    char buffer[65536];
    ssize_t length = read(open_fds[place].fd, buffer, sizeof buffer - 1);
    if (length < 0 && errno == EAGAIN) {
        return;
    }
    if (length > 0 && missing[place] < 0) {
        buffer[length] = '\0';
        const char *bytes = strcasestr(buffer, "\r\nContent-Length:");
        const char *body = strstr(buffer, "\r\n\r\n");
        missing[place] = bytes != NULL && body != NULL ? atol(bytes + 17) + (body + 4 - buffer) : 0;
    }
    missing[place] -= length > 0 ? length : 0;
    if (length > 0 && missing[place] > 0) {
        return;
    }
    int number = number_of[place];
    taken[number] = length > 0 ? now_ns() - origin - intended[number] : -1;
    close(open_fds[place].fd);
    n_open--;
    open_fds[place] = open_fds[n_open];
    number_of[place] = number_of[n_open];
    missing[place] = missing[n_open];
}

int main(int argc, char **argv) {
    if (argc != 6) {
        return 2;
    }
    double rate = atof(argv[2]);
    int count = (int)(rate * atof(argv[3]));
    count = count < MOST ? count : MOST;
    srand48(atol(argv[4]));
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[5]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    prctl(PR_SET_TIMERSLACK, 1UL);
    double at = 0;
    for (int i = 0; i < count; i++) {
        at += -log(1 - drand48()) / rate * 1e9;
        intended[i] = at;
        taken[i] = -1;
    }
    double origin = now_ns();
    for (int next = 0; (next < count || n_open > 0) && now_ns() - origin < at + PATIENCE_NS;) {
        while (next < count && intended[next] <= now_ns() - origin) {
            begin(next++, atoi(argv[1]));
        }
        double pause_ns = (next < count ? intended[next] : at + PATIENCE_NS) - (now_ns() - origin) - AWAKE_NS;
        struct timespec pause = {.tv_nsec = pause_ns > 0 ? (long)fmin(pause_ns, 5e8) : 0};
        if (ppoll(open_fds, (nfds_t)n_open, &pause, NULL) > 0) {
            for (int i = n_open - 1; i >= 0; i--) {
                if (open_fds[i].revents != 0) {
                    read_from(i, origin);
                }
            }
        }
    }
    for (int i = 0; i < count; i++) {
        printf("%.0f\n", taken[i]);
    }
    return 0;
}
