/* launch.clone3_into_cgroup
 * Timed: as launch.clone3, the child being born in another cgroup (CLONE_INTO_CGROUP). Outside: making the
 * group below our own in the version 2 hierarchy, and removing it; a guardian process does that even if the
 * probe is killed. Bias: that guardian is started before the cold launch, which so is not the very first of
 * its process; one descriptor more is open, which the child does not get. Source: clone(2), Linux 5.7;
 * cgroups(7).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/clone3.h"
#include "launch/guardian.h"
#include "launch/launch.h"
#include "sys/sys.h"

enum { PATH_BYTES = 1024, TEXT_BYTES = 16384 };

struct room {
    struct guardian guardian;
    int group;
};

/* The value of the field that starts after `count` spaces of a line. */
static const char *field_after(const char *line, int count) {
    for (; line != NULL && count > 0; count--) {
        line = strchr(line, ' ');
        line += line != NULL;
    }
    return line;
}

/* Where the version 2 hierarchy is mounted: the fifth field of the line whose type, after " - ", is cgroup2.
 */
static int find_mount(char *path, size_t capacity) {
    char text[TEXT_BYTES];
    if (sys_read_file("/proc/self/mountinfo", text, sizeof text) <= 0) {
        return -ENOENT;
    }
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        const char *type = strstr(line, " - ");
        const char *where = field_after(line, 4);
        if (type == NULL || where == NULL || strncmp(type + 3, "cgroup2 ", 8) != 0) {
            continue;
        }
        snprintf(path, capacity, "%.*s", (int)strcspn(where, " "), where);
        return 0;
    }
    return -ENOENT;
}

/* The directory of the group this process is in. */
static int own_group(char *path, size_t capacity) {
    char text[PATH_BYTES];
    int error = find_mount(path, capacity);
    if (error != 0) {
        return error;
    }
    if (sys_read_file("/proc/self/cgroup", text, sizeof text) <= 0) {
        return -ENOENT;
    }
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL) {
        return -ENOENT;
    }
    const char *name = strstr(line, "0::") + 3;
    size_t length = strcspn(name, "\n");
    size_t used = strlen(path);
    if (used + length >= capacity) {
        return -ENAMETOOLONG;
    }
    memcpy(path + used, name, length);
    path[used + length] = '\0';
    return 0;
}

static int available(struct reason *reason) {
    char path[PATH_BYTES];
    int error = launch_clone3_available(reason);
    if (error != 0) {
        return error;
    }
    if (own_group(path, sizeof path) != 0) {
        return reason_set(reason, -ENOENT, "no cgroup version 2 hierarchy is mounted here");
    }
    if (access(path, W_OK) != 0) {
        return reason_set(reason, -EACCES, "no cgroup can be made in %.200s: %s", path, strerror(errno));
    }
    return 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    static struct room room;
    char path[PATH_BYTES];
    int error = own_group(path, sizeof path);
    size_t length = strlen(path);
    if (error == 0) {
        snprintf(path + length, sizeof path - length, "/clonometer.%d", (int)getpid());
        error = mkdir(path, S_IRWXU) != 0 ? -errno : 0;
    }
    if (error != 0) {
        return reason_set(reason, error, "the cgroup %.200s cannot be made: %s", path, strerror(-error));
    }
    error = guardian_start(&room.guardian, path);
    if (error != 0) {
        rmdir(path);
        return reason_set(reason, error, "the guardian of a cgroup cannot be started: %s", strerror(-error));
    }
    room.group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (room.group < 0) {
        return reason_set(reason, -errno, "the cgroup %.200s cannot be opened: %s", path, strerror(errno));
    }
    bench->state = &room;
    return 0;
}

static int launch(const struct bench *bench, struct sample *sample) {
    const struct room *room = bench->state;
    struct clone_args_v2 args = {
        .flags = TASK_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)room->group};
    return launch_clone3(bench, &args, sample);
}

static void finish(struct bench *bench) {
    struct room *room = bench->state;
    close(room->group);
    if (guardian_end(&room->guardian) != 0) {
        dprintf(STDERR_FILENO, "probe: a cgroup clonometer.%d could not be removed\n", (int)getpid());
    }
}

static const struct clone_facts FLAGS = {.flags = TASK_INTO_CGROUP, .exact = true, .reaped_by = "wait"};

const struct workload launch_clone3_into_cgroup = {
    .id = "launch.clone3_into_cgroup",
    .family = "same_image",
    .summary = "clone3 with CLONE_INTO_CGROUP: the child is born in another cgroup; it leaves, waitpid()",
    .columns = LAUNCH_COLUMNS,
    .axes = FORK_AXES,
    .has_temperature = true,
    .child_copies_memory = true,
    .nulls = NO_NEW_PROGRAM,
    .clone = &FLAGS,
    .available = available,
    .prepare = prepare,
    .launch = launch,
    .finish = finish,
};
