/* footprint.process
 * Taken: memory before any child, and while all of them idle, divided by their number; from one of them its
 * address space and pages. Timed: from before the first fork until every child has run and said so, and from
 * before the first is killed until the last is reaped. Outside: settling and reading. Bias: children are
 * forks of a small static program, so that they share its pages and have few of their own: touched_bytes are
 * written on top of that. A child's word through a pipe makes it write one page of its stack. With the whole
 * machine's account, whatever else allocates meanwhile is counted. Source: proc(5), cgroups(7),
 * admin-guide/cgroup-v2 on memory.stat.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "workloads/footprint/footprint.h"

enum {
    KERNEL_BYTES = 192 << 10
}; /* of a small process, rounded up: stack, page tables, structures, its own pages */

struct line {
    int reading;
    int writing;
};

__attribute__((noreturn)) static void idle(const struct request *request, int line, pid_t probe) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != probe) {
        _exit(1);
    }
    footprint_touch_stack(request->touched_bytes);
    (void)sys_write_all(line, "", 1);
    for (;;) {
        pause();
    }
}

/* Reads a byte of each child. 0, or -ECHILD if the line ends before. */
static int await_all(int line, int64_t count) {
    char words[4096];
    while (count > 0) {
        ssize_t got = read(line, words, sizeof words);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return got == 0 ? -ECHILD : -errno;
        }
        count -= got > 0 ? got : 0;
    }
    return 0;
}

static int64_t start_all(const struct request *request, int line, pid_t *children, int *error) {
    pid_t probe = getpid();
    int64_t started = 0;
    for (; started < request->tasks; started++) {
        pid_t pid = fork();
        if (pid == 0) {
            idle(request, line, probe);
        }
        if (pid < 0) {
            *error = -errno;
            break;
        }
        children[started] = pid;
    }
    return started;
}

static int reap_all(const pid_t *children, int64_t count) {
    int error = 0;
    int status;
    for (int64_t i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
    }
    for (int64_t i = 0; i < count; i++) {
        int wait_error = sys_wait(children[i], &status);
        error = error != 0 ? error : wait_error;
    }
    return error;
}

/* Of the last one, as if all were like it. */
static int read_one(pid_t pid, int64_t tasks, struct footprint_row *row) {
    int error = task_memory_read(pid, &row->task);
    row->task.virtual_bytes *= tasks;
    row->task.resident_bytes *= tasks;
    row->task.private_bytes *= tasks;
    return error;
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct footprint_row *row = (struct footprint_row *)(void *)sample;
    pid_t *children = footprint_list(bench);
    int64_t tasks = bench->request->tasks;
    int line[2];
    int error = footprint_before(bench);
    if (error != 0 || pipe2(line, O_CLOEXEC) != 0) {
        return error != 0 ? error : -errno;
    }
    struct stamp start = clock_read();
    int64_t started = start_all(bench->request, line[1], children, &error);
    /* Only children hold the other end now: its end is that of the last of them. */
    close(line[1]);
    error = error != 0 ? error : await_all(line[0], started);
    row->create_ticks = clock_read().ticks - start.ticks;
    error = error != 0 ? error : footprint_after(bench, row);
    error = error != 0 ? error : read_one(children[started - 1], tasks, row);
    uint64_t end = clock_read().ticks;
    int reap_error = reap_all(children, started);
    row->reap_ticks = clock_read().ticks - end;
    close(line[0]);
    sample->cpu_before = (int32_t)start.cpu;
    return error != 0 ? error : reap_error;
}

static int prepare(struct bench *bench, struct reason *reason) {
    struct limits_need each = {.memory_bytes = KERNEL_BYTES};
    return footprint_prepare(bench, sizeof(pid_t), &each, reason);
}

static const char *const AXES[] = {"linkage", "placement", "tasks", "touched_bytes", "accounting", NULL};

const struct workload footprint_process = {
    .id = "footprint.process",
    FOOTPRINT_FACTS,
    .summary = "what each of many idle processes holds, and how long it takes to create and reap them",
    .axes = AXES,
    .prepare = prepare,
    .launch = launch,
};
