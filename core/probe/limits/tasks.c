#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/limits/checks.h"

static const struct limits_group PIDS_GROUPS[] = {
    {"", "/sys/fs/cgroup", "pids.max", "pids.current"},
    {"pids", "/sys/fs/cgroup/pids", "pids.max", "pids.current"},
    {NULL, NULL, NULL, NULL},
};

int limits_check_tasks(const char *root, const char *cgroups, const struct limits_need *need,
                       struct reason *reason) {
    for (const struct limits_group *group = PIDS_GROUPS; group->key != NULL; group++) {
        char where[LIMITS_PATH_BYTES];
        int64_t room = limits_group_room(root, cgroups, group, where, sizeof where);
        if (room < need->tasks) {
            return reason_set(reason, -EAGAIN,
                              "needs %" PRId64 " tasks, but %s leaves %" PRId64
                              "; raise it, or ask for fewer",
                              need->tasks, where, room);
        }
    }
    struct rlimit processes;
    if (getuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY &&
        (int64_t)processes.rlim_cur < need->tasks) {
        return reason_set(reason, -EAGAIN,
                          "needs %" PRId64 " tasks, but RLIMIT_NPROC is %" PRId64 "; raise it with ulimit -u",
                          need->tasks, (int64_t)processes.rlim_cur);
    }
    int64_t threads = limits_read_number(root, "/proc/sys/kernel/threads-max");
    if (threads >= 0 && threads < need->tasks) {
        return reason_set(reason, -EAGAIN,
                          "needs %" PRId64 " tasks, but kernel.threads-max is %" PRId64
                          "; raise it with sysctl kernel.threads-max=N",
                          need->tasks, threads);
    }
    /* Numbers of tasks that other programs need too: they could start nothing any more. */
    int64_t numbers = limits_read_number(root, "/proc/sys/kernel/pid_max");
    if (numbers >= 0 && numbers / 2 < need->tasks) {
        return reason_set(reason, -EAGAIN,
                          "needs %" PRId64 " tasks, more than half of kernel.pid_max, which is %" PRId64
                          "; raise it with sysctl kernel.pid_max=N",
                          need->tasks, numbers);
    }
    return 0;
}
