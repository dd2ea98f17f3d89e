#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "probe/parent/parts.h"

/* A forked child does not inherit the locks (fork(2)): what is measured is the parent's side. */
int parent_lock_memory(const struct bench *bench, struct reason *reason) {
    if (bench->request->mlockall == 0 || mlockall(MCL_CURRENT | MCL_FUTURE) == 0) {
        return 0;
    }
    return reason_set(reason, -errno, "mlockall: %s; raise RLIMIT_MEMLOCK with ulimit -l, or run as root",
                      strerror(errno));
}

/* Of linux/sched.h, in the order of enum sched_class. */
static const struct {
    int policy;
    int priority; /* the lowest of the class: nothing of ours should stand above what the machine needs */
} CLASSES[] = {{SCHED_OTHER, 0}, {SCHED_BATCH, 0}, {SCHED_IDLE, 0}, {SCHED_FIFO, 1}, {SCHED_RR, 1}};

int parent_sched_class_available(int64_t sched_class, struct reason *reason) {
    int old = sys_scheduler();
    int error = sched_class == SCHED_CLASS_OTHER
                    ? 0
                    : sys_set_scheduler(CLASSES[sched_class].policy, CLASSES[sched_class].priority);
    if (error != 0) {
        return reason_set(
            reason, error,
            "sched_setscheduler: %s; it needs CAP_SYS_NICE or RLIMIT_RTPRIO (ulimit -r), and under "
            "cgroup v1 a cpu.rt_runtime_us above 0",
            strerror(-error));
    }
    if (sched_class != SCHED_CLASS_OTHER && old >= 0) {
        /* Leaving SCHED_IDLE needs RLIMIT_NICE before Linux 2.6.39 only. */
        (void)sys_set_scheduler(old, 0);
    }
    return 0;
}

int parent_set_class(const struct bench *bench, struct reason *reason) {
    int64_t wanted = bench->request->sched_class;
    int error =
        wanted == SCHED_CLASS_OTHER ? 0 : sys_set_scheduler(CLASSES[wanted].policy, CLASSES[wanted].priority);
    return error == 0 ? 0 : reason_set(reason, error, "sched_setscheduler: %s", strerror(-error));
}
