/* teardown.zombies
 * Timed: reaping all of many children that have ended already, one waitpid for each, from before the first
 * until after the last. Outside: forking them, and waiting (without reaping) until every one has ended.
 * Bias: their memory was taken down when they ended, so that this is only the end of the task itself; part of
 * it is deferred (RCU) and happens later. Source: wait(2), waitid(2) with WNOWAIT; kernel/exit.c,
 * release_task.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/limits/limits.h"
#include "workloads/launch/launch.h"

/* What the kernel keeps of an ended task: its task_struct, pid and signal structures, rounded up. */
enum { ZOMBIE_BYTES = 16 << 10 };

/* bench->state is the list of their numbers. */
static int64_t start_all(pid_t *children, int64_t count, int *error) {
    int64_t started = 0;
    for (; started < count; started++) {
        pid_t pid = fork();
        if (pid == 0) {
            _exit(0);
        }
        if (pid < 0) {
            *error = -errno;
            break;
        }
        children[started] = pid;
    }
    return started;
}

static int launch(const struct bench *bench, struct sample *sample) {
    pid_t *children = bench->state;
    int error = 0;
    int status;
    int64_t started = start_all(children, bench->request->zombies, &error);
    for (int64_t i = 0; i < started; i++) {
        siginfo_t ended;
        while (waitid(P_PID, (id_t)children[i], &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
        }
    }
    launch_before(sample);
    for (int64_t i = 0; i < started; i++) {
        int wait_error = sys_wait(children[i], &status);
        error = error != 0 ? error : wait_error;
    }
    ((struct timed_row *)(void *)sample)->ticks = clock_read().ticks - sample->before;
    return error;
}

static int prepare(struct bench *bench, struct reason *reason) {
    int64_t count = bench->request->zombies;
    if (count < 1 || count > INT32_MAX) {
        return reason_set(reason, -EOPNOTSUPP, "zombies=%lld: at least 1", (long long)count);
    }
    struct limits_need need = {.memory_bytes = count * ZOMBIE_BYTES, .tasks = count + 1};
    int error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    void *memory = mmap(NULL, (size_t)count * sizeof(pid_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for %lld numbers: %s", (long long)count,
                          strerror(errno));
    }
    bench->state = memory;
    return 0;
}

static int64_t operations(const struct request *request) {
    return request->zombies;
}

static const struct column COLUMNS[] = {
    {"reap_all_ns", COLUMN_DURATION, offsetof(struct timed_row, ticks), NULL, "reaping all ended children"},
    {"reap_each_ns", COLUMN_EACH, offsetof(struct timed_row, ticks), NULL,
     "the time to reap all, divided by the number of children"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, "zombies", NULL};

const struct workload teardown_zombies = {
    .id = "teardown.zombies",
    .family = "teardown",
    .summary = "many ended child processes are reaped in a row",
    .answers.columns = COLUMNS,
    .axes = AXES,
    ROWS_OF(timed_row),
    .prepare = prepare,
    .launch = launch,
    .rows.operations = operations,
};
