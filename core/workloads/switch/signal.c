/* switch.signal
 * Timed: as ring.h says; a task is woken by a signal that is blocked and taken with sigwaitinfo(): no handler
 * runs. Alone, a task signals itself and takes it, which never sleeps. Bias: a handler would add its frame
 * and a sigreturn. Source: signal(7), sigwaitinfo(2), tgkill(2).
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/switch/ring.h"

static void only_ours(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGUSR1);
}

/* Before any task is started, since they inherit it. */
static int block(const struct request *request, struct reason *reason) {
    (void)request;
    (void)reason;
    sigset_t set;
    only_ours(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return 0;
}

static int wait(struct ring *ring, int task) {
    (void)task;
    sigset_t set;
    only_ours(&set);
    while (sigwaitinfo(&set, NULL) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
        if (team_over(ring->team)) {
            return -ECHILD;
        }
    }
    return 0;
}

static int post(struct ring *ring, int task) {
    long error = syscall(SYS_tgkill, ring_process_of(ring, task), ring_task_of(ring, task), SIGUSR1);
    return error != 0 ? -ECHILD : 0;
}

static const struct ring_ways WAYS = {.check = block, .wait = wait, .post = post};

RING_WORKLOAD(switch_signal, "switch.signal", WAYS, "a task wakes the next one by a signal and sleeps",
              RING_COLUMNS);
