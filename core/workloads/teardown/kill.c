/* teardown.kill
 * Timed: from before kill(SIGKILL) of a sleeping child until the parent's wait has returned. Outside: the
 * fork, the child's writing of its child_bytes, in pages of 4 KiB, and the wait until the kernel says that it
 * sleeps. Bias: contains the wake-up of the child, which must run once more to die, and that of the parent.
 * Source: kill(2), wait(2); kernel/signal.c, complete_signal and get_signal.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/launch/launch.h"
#include "workloads/teardown/child.h"
#include "workloads/wake/asleep.h"

static void live(const struct bench *bench, pid_t probe) {
    /* It lives long: it must not outlive the probe. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != probe) {
        _exit(1);
    }
    child_grow(bench);
    __atomic_store_n(&bench->stamps->ready, 1, __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
}

/* Waits until the child has its memory and sleeps. Growing may take seconds: only its death ends the wait. */
static int await_child(const struct bench *bench, pid_t pid) {
    struct timespec pause_time = {.tv_nsec = 100000};
    while (__atomic_load_n(&bench->stamps->ready, __ATOMIC_ACQUIRE) == 0) {
        siginfo_t ended = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return -errno;
        }
        if (ended.si_pid == pid) {
            return bench->stamps->child_error != 0 ? -bench->stamps->child_error : -ECHILD;
        }
        nanosleep(&pause_time, NULL);
    }
    return asleep_wait(pid, pid);
}

static int launch(const struct bench *bench, struct sample *sample) {
    int status = 0;
    pid_t probe = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        live(bench, probe);
    }
    if (pid < 0) {
        return -errno;
    }
    int error = await_child(bench, pid);
    launch_before(sample);
    kill(pid, SIGKILL);
    int wait_error = sys_wait(pid, &status);
    launch_reaped(sample);
    struct teardown_row *row = (struct teardown_row *)(void *)sample;
    row->teardown = row->launch.reaped - sample->before;
    return error != 0 ? error : wait_error;
}

const struct workload teardown_kill = {
    .id = "teardown.kill",
    TEARDOWN_FACTS,
    .summary = "a sleeping child process is killed, until it is reaped",
    .launch = launch,
};
