/* wake.pipe
 * Timed: as wake.h says; the waking call is a write() of one byte to the pipe that an idle pre-forked process
 * reads, the answer a byte through a second pipe. Source: pipe(7); perf bench sched pipe.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/wake/wake.h"

static int open_pipes(struct wake *wake) {
    return pipe(wake->call_pipe) != 0 || pipe(wake->answer_pipe) != 0 ? -errno : 0;
}

/* A pipe that holds nothing takes a byte at once; only signals, of which there are none, could interrupt. */
static void put(int fd) {
    char byte = 0;
    (void)!write(fd, &byte, 1);
}

static void take(int fd) {
    char byte;
    while (read(fd, &byte, 1) < 0 && errno == EINTR) {
    }
}

static void call(struct wake *wake) {
    put(wake->call_pipe[1]);
}

static void wait_answer(struct wake *wake) {
    take(wake->answer_pipe[0]);
}

static void wait_call(struct wake *wake) {
    take(wake->call_pipe[0]);
}

static void answer(struct wake *wake) {
    put(wake->answer_pipe[1]);
}

static const struct wake_ways WAYS = {open_pipes, call, wait_answer, wait_call, answer};

WAKE_WORKLOAD(wake_pipe, "wake.pipe", WAYS, process,
              "an idle pre-forked process is woken by a byte through a pipe");
