/* launch.clone3_into_cgroup
 * Timed: as launch.clone3, the child being born in another cgroup (CLONE_INTO_CGROUP). Outside: making the
 * group below our own in the version 2 hierarchy, and removing it; a remover process does that even if the
 * probe is killed. Bias: that remover is started before the cold launch, which so is not the very first of
 * its process; one descriptor more is open, which the child does not get. Source: clone(2), Linux 5.7;
 * cgroups(7).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/cgroup/cgroup.h"
#include "workloads/launch/clone3.h"
#include "workloads/launch/launch.h"
#include "workloads/launch/remover.h"

struct room {
    struct remover remover;
    int group;
};

static int available(struct reason *reason) {
    char path[CGROUP_PATH_BYTES];
    int error = launch_clone3_available(reason);
    if (error != 0) {
        return error;
    }
    if (cgroup_own("", NULL, path) != 0) {
        return reason_set(reason, -ENOENT, "no cgroup version 2 hierarchy is mounted here");
    }
    if (access(path, W_OK) != 0) {
        return reason_set(reason, -EACCES, "no cgroup can be created in %.200s: %s", path, strerror(errno));
    }
    return 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    static struct room room;
    char path[CGROUP_PATH_BYTES];
    char own_group[CGROUP_PATH_BYTES];
    int error = cgroup_own("", NULL, own_group);
    error = error != 0 ? error : cgroup_make(own_group, path);
    if (error != 0) {
        return reason_set(reason, error, "no cgroup can be created in %.200s: %s", own_group,
                          strerror(-error));
    }
    error = remover_start(&room.remover, path);
    if (error != 0) {
        return reason_set(reason, error, "the remover of a cgroup cannot be started: %s", strerror(-error));
    }
    room.group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (room.group < 0) {
        return reason_set(reason, -errno, "the cgroup %.200s cannot be opened: %s", path, strerror(errno));
    }
    bench->state = &room;
    return 0;
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    const struct room *room = bench->state;
    struct clone_args_v2 args = {
        .flags = TASK_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)room->group};
    return launch_clone3(bench, &args, sample);
}

static void finish(struct bench *bench) {
    struct room *room = bench->state;
    close(room->group);
    char own_group[CGROUP_PATH_BYTES];
    char path[CGROUP_PATH_BYTES];
    if (cgroup_own("", NULL, own_group) == 0 && cgroup_name(own_group, path) == 0) {
        (void)remover_end(&room->remover, path);
    }
}

static const struct clone_facts FLAGS = {.flags = TASK_INTO_CGROUP, .exact = true, .reaped_by = "wait"};

const struct workload launch_clone3_into_cgroup = {
    .id = "launch.clone3_into_cgroup",
    FORK_FACTS,
    .summary = "clone3 with CLONE_INTO_CGROUP: the child is born in another cgroup; it leaves, waitpid()",
    .axes = FORK_AXES,
    .task.facts = &FLAGS,
    .needs.available = available,
    .prepare = prepare,
    .launch = launch,
    .finish = finish,
};
