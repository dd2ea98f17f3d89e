/* A task counts as asleep only once the kernel says so; one that has gone is told apart. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "check.h"
#include "workloads/wake/asleep.h"

enum { BUSY_NS = 50000000 };

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static pid_t start(volatile int *busy) {
    pid_t pid = fork();
    CHECK(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        for (long long end = now_ns() + BUSY_NS; now_ns() < end;) {
        }
        *busy = 0;
        for (;;) {
            pause();
        }
    }
    return pid;
}

int main(void) {
    int *busy = mmap(NULL, sizeof *busy, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(busy != MAP_FAILED, "mmap: %s", strerror(errno));
    *busy = 1;
    int status;
    pid_t pid = start(busy);
    int error = asleep_wait(pid, pid);
    int was_busy = *busy;
    kill(pid, SIGKILL);
    siginfo_t ended;
    CHECK(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) == 0, "waitid: %s", strerror(errno));
    int ended_error = asleep_wait(pid, pid);
    sys_wait(pid, &status);
    CHECK(error == 0 && !was_busy, "error %d while it was %s", error, was_busy ? "busy" : "asleep");
    CHECK(ended_error == -ESRCH, "a task that has ended: %d", ended_error);
    CHECK(asleep_wait(pid, pid) == -ESRCH, "a task that was reaped");
    return 0;
}
