/* namespaces.*
 * Timed: from before the system call clone3 until it returns, until the child's first own instruction, until
 * waitpid has returned; teardown_ns is the last part of that, from the child's stamp before its exit,
 * whose sending it contains (a write: launch.stamp says its cost).
 * Outside: filling the arguments; a pause after each launch (namespaces.none pauses too), in which the kernel
 * does what it puts off: it frees network namespaces in a work queue (net/core/net_namespace.c, cleanup_net:
 * 40 to 80 ms until their count was down again on Linux 6.18), IPC namespaces in another (ipc/namespace.c, 8
 * ms), mounts after an RCU grace period (2 ms). Bias: that part of tear-down is in no figure; after the pause
 * the CPU comes out of idle, so that compare with namespaces.none, never with launch.clone3. The child of a
 * PID namespace is its init. A time namespace gives the child another vDSO page, which the clock may fault
 * in. Source: namespaces(7), clone(2).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clone.h"
#include "base/sys.h"
#include "workloads/launch/clone3.h"
#include "workloads/launch/launch.h"

enum { PAUSE_NS = 10000000, LONG_PAUSE_NS = 100000000, TEXT_BYTES = 4096, CAP_SYS_ADMIN_BIT = 21 };

#define ALL_NAMESPACES                                                                                       \
    (TASK_NEWUTS | TASK_NEWIPC | TASK_NEWUSER | TASK_NEWPID | TASK_NEWNS | TASK_NEWNET | TASK_NEWCGROUP |    \
     TASK_NEWTIME)

static const struct {
    uint64_t flag;
    const char *file; /* in /proc/self/ns */
} KINDS[] = {
    {TASK_NEWUTS, "uts"}, {TASK_NEWIPC, "ipc"}, {TASK_NEWUSER, "user"},     {TASK_NEWPID, "pid"},
    {TASK_NEWNS, "mnt"},  {TASK_NEWNET, "net"}, {TASK_NEWCGROUP, "cgroup"}, {TASK_NEWTIME, "time"},
};

static void pause_after(uint64_t flags) {
    long ns = (flags & TASK_NEWIPC) != 0 ? 2 * PAUSE_NS : PAUSE_NS;
    struct timespec pause = {.tv_nsec = (flags & TASK_NEWNET) != 0 ? LONG_PAUSE_NS : ns};
    nanosleep(&pause, NULL);
}

/* Whether this process may make namespaces other than of users: the capability, as the kernel shows it. */
static bool is_admin(void) {
    char text[TEXT_BYTES];
    if (sys_read_file("/proc/self/status", text, sizeof text) <= 0) {
        return true;
    }
    const char *at = strstr(text, "\nCapEff:");
    return at == NULL || ((strtoull(at + 8, NULL, 16) >> CAP_SYS_ADMIN_BIT) & 1U) != 0;
}

static int check(uint64_t flags, struct reason *reason) {
    int error = launch_clone3_available(reason);
    if (error == 0 && flags != 0 && access("/proc/self/ns", F_OK) != 0) {
        return reason_set(reason, -ENOENT,
                          "/proc is not mounted, and it alone tells what namespaces there are");
    }
    for (size_t i = 0; error == 0 && i < sizeof KINDS / sizeof KINDS[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/ns/%s", KINDS[i].file);
        if ((flags & KINDS[i].flag) != 0 && access(path, F_OK) != 0) {
            error = reason_set(reason, -ENOSYS, "this kernel was built without %s namespaces", KINDS[i].file);
        }
    }
    if (error == 0 && flags != 0 && (flags & TASK_NEWUSER) == 0 && !is_admin()) {
        error = reason_set(reason, -EPERM, "only a process with CAP_SYS_ADMIN may make such a namespace");
    }
    return error;
}

struct namespace_row {
    struct launch_row launch;
    uint64_t teardown; /* 0: none */
};

static long start(const struct bench *bench, uint64_t flags, struct sample *sample) {
    struct clone_args_v2 args = {.flags = flags, .exit_signal = SIGCHLD};
    launch_before(sample);
    long pid = clone3_fork_like(&args);
    if (pid == 0) {
        launch_task_runs(bench);
        launch_before_exit(bench);
        if (bench->stamp_child) {
            uint64_t ticks = clock_read().ticks;
            launch_put(bench, offsetof(struct stamps, extra_ticks), &ticks, sizeof ticks);
        }
        _exit(0);
    }
    return pid;
}

/* What no file tells (a seccomp filter, a limit on namespaces, a policy) is found out by one launch. */
static int prepare(struct bench *bench, struct reason *reason) {
    struct launch_row scrap;
    int status = 0;
    uint64_t flags = bench->request->workload->task.facts->flags;
    long pid = start(bench, flags, &scrap.sample);
    if (pid > 0) {
        int error = sys_wait((pid_t)pid, &status);
        pause_after(flags);
        return error;
    }
    int error = pid == -ENOSPC || pid == -EUSERS ? -EAGAIN : pid == -EINVAL ? -ENOSYS : (int)pid;
    return reason_set(reason, error, "the kernel refuses %s: %s%s", bench->request->workload->id,
                      strerror((int)-pid),
                      error == -EAGAIN ? "; /proc/sys/user/max_*_namespaces limits their number" : "");
}

static int launch(const struct bench *bench, struct sample *sample) {
    uint64_t flags = bench->request->workload->task.facts->flags;
    long pid = start(bench, flags, sample);
    launch_call_returned(bench, sample);
    if (pid < 0) {
        return (int)pid;
    }
    int error = launch_reap(bench, (pid_t)pid, sample);
    uint64_t end = bench->stamps->extra_ticks;
    struct namespace_row *row = (struct namespace_row *)(void *)sample;
    row->teardown = end != 0 && row->launch.reaped > end ? row->launch.reaped - end : 0;
    pause_after(flags);
    return error;
}

#define IN_SAMPLE(field) offsetof(struct sample, field)
#define IN_LAUNCH(field) offsetof(struct launch_row, field)

static const struct column COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, IN_SAMPLE(before), NULL, NULL},
    {"call_returns_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(call_returns), "call_returns",
     "until the call returns in the parent"},
    {"task_runs_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(task_runs), "task_runs",
     "until the first instruction of the new task's own code"},
    {"image_runs_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(image_runs), "image_runs",
     "until the entry of the new program"},
    {"reaped_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(reaped), "reaped", "until wait or join has returned"},
    {"teardown_ns", COLUMN_DURATION, offsetof(struct namespace_row, teardown), NULL,
     "from the task's last own instruction until wait has returned"},
    {"cpu_before", COLUMN_CPU, IN_SAMPLE(cpu_before), NULL, NULL},
    {"cpu_after", COLUMN_CPU, IN_SAMPLE(cpu_after), NULL, NULL},
    {"cpu_child", COLUMN_CPU, IN_SAMPLE(cpu_child), NULL, NULL},
    {"errno", COLUMN_ERRNO, IN_SAMPLE(error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_PLACE, AXES_PARENT, AXES_SPIN, NULL};

#define NAMESPACE(name, namespace_flags, below, text)                                                        \
    static const struct clone_facts name##_facts = {                                                         \
        .flags = (namespace_flags), .exact = true, .reaped_by = "wait", .step_from = (below)};               \
    static int name##_available(struct reason *reason) {                                                     \
        return check(namespace_flags, reason);                                                               \
    }                                                                                                        \
    const struct workload namespaces_##name = {                                                              \
        .id = "namespaces." #name,                                                                           \
        .family = "same_image",                                                                              \
        .summary = "clone3 into " text,                                                                      \
        .answers.columns = COLUMNS,                                                                          \
        .axes = AXES,                                                                                        \
        .has_temperature = true,                                                                             \
        ROWS_OF_LAUNCHES(namespace_row),                                                                     \
        .task.copies_memory = true,                                                                          \
        .answers.nulls = NO_NEW_PROGRAM,                                                                     \
        .task.facts = &name##_facts,                                                                         \
        .needs.available = name##_available,                                                                 \
        .prepare = prepare,                                                                                  \
        .launch = launch,                                                                                    \
    }

NAMESPACE(none, 0, NULL, "no new namespace: the base of all others");
NAMESPACE(uts, TASK_NEWUTS, "namespaces.none", "a new UTS namespace (host name)");
NAMESPACE(ipc, TASK_NEWIPC, "namespaces.none", "a new IPC namespace");
NAMESPACE(user, TASK_NEWUSER, "namespaces.none", "a new user namespace");
NAMESPACE(pid, TASK_NEWPID, "namespaces.none", "a new PID namespace, as its init");
NAMESPACE(mnt, TASK_NEWNS, "namespaces.none", "a new mount namespace: all mounts are copied");
NAMESPACE(net, TASK_NEWNET, "namespaces.none", "a new network namespace, with a loopback device");
NAMESPACE(cgroup, TASK_NEWCGROUP, "namespaces.none", "a new cgroup namespace");
NAMESPACE(time, TASK_NEWTIME, "namespaces.none", "a new time namespace");
NAMESPACE(all, ALL_NAMESPACES, "namespaces.none",
          "new namespaces of all eight kinds: the start of a container");
