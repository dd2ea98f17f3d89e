#include "limits/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/sys.h"

enum { PATH_BYTES = 1024, FILE_BYTES = 8192 };

/* The number after `key` at the start of a line, or -1. */
static int64_t number_after(const char *text, const char *key) {
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            return strtoll(line + length, NULL, 10);
        }
    }
    return -1;
}

/* A file with one number; -1 where there is none, or it says "max". */
static int64_t read_number(const char *root, const char *path) {
    char full[PATH_BYTES];
    char text[64];
    snprintf(full, sizeof full, "%s%s", root, path);
    if (sys_read_file(full, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9') {
        return -1;
    }
    return strtoll(text, NULL, 10);
}

/* One controller of one hierarchy. */
struct group {
    const char *key;  /* in /proc/self/cgroup, between the colons */
    const char *base; /* where its hierarchy is mounted */
    const char *limit;
    const char *usage;
};

static const struct group MEMORY_GROUPS[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
    {NULL, NULL, NULL, NULL},
};
static const struct group PIDS_GROUPS[] = {
    {"", "/sys/fs/cgroup", "pids.max", "pids.current"},
    {"pids", "/sys/fs/cgroup/pids", "pids.max", "pids.current"},
    {NULL, NULL, NULL, NULL},
};

/* The path of this task in the hierarchy of `key`; empty where it is not named. */
static void group_path(const char *cgroups, const char *key, char *path, size_t capacity) {
    path[0] = '\0';
    size_t length = strlen(key);
    for (const char *line = cgroups; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *names = strchr(line, ':');
        const char *at = names != NULL ? strchr(names + 1, ':') : NULL;
        if (at == NULL || (size_t)(at - names - 1) != length || strncmp(names + 1, key, length) != 0) {
            continue;
        }
        snprintf(path, capacity, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        return;
    }
}

/* The least room in a group and all groups above it, since each of them limits; INT64_MAX where none does. */
static int64_t group_room(const char *root, const char *cgroups, const struct group *group, char *where,
                          size_t capacity) {
    char path[PATH_BYTES / 2];
    int64_t room = INT64_MAX;
    group_path(cgroups, group->key, path, sizeof path);
    for (;;) {
        char file[PATH_BYTES];
        snprintf(file, sizeof file, "%s%s/%s", group->base, path, group->limit);
        int64_t limit = read_number(root, file);
        if (limit >= 0 && limit < INT64_MAX / 2) {
            char used_file[PATH_BYTES];
            snprintf(used_file, sizeof used_file, "%s%s/%s", group->base, path, group->usage);
            int64_t used = read_number(root, used_file);
            int64_t left = limit - (used > 0 ? used : 0);
            if (left < room) {
                room = left;
                snprintf(where, capacity, "%s (%" PRId64 ")", file, limit);
            }
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return room;
        }
        *slash = '\0';
    }
}

static int refuse_memory(struct reason *reason, const struct limits_need *need, const char *limit,
                         int64_t left, const char *remedy) {
    return reason_set(reason, -ENOMEM,
                      "needs %" PRId64 " MiB of memory and a margin of %d MiB, but %s leaves %" PRId64
                      " MiB; %s",
                      need->memory_bytes >> 20, LIMITS_MARGIN_BYTES >> 20, limit, left >> 20, remedy);
}

static int check_memory(const char *root, const char *cgroups, const struct limits_need *need,
                        struct reason *reason) {
    char path[PATH_BYTES];
    char text[FILE_BYTES];
    /* Page tables take 1/512 of the memory they map, once for the parent and once for a forked child. */
    int64_t wanted = need->memory_bytes + need->memory_bytes / 256 + LIMITS_MARGIN_BYTES;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (sys_read_file(path, text, sizeof text) > 0) {
        int64_t left = number_after(text, "MemAvailable:") * 1024;
        if (left >= 0 && left < wanted) {
            return refuse_memory(reason, need, "MemAvailable", left, "free memory, or ask for less");
        }
        int64_t commit = (number_after(text, "CommitLimit:") - number_after(text, "Committed_AS:")) * 1024;
        /* Under strict accounting a fork commits the parent's private memory once more. */
        if (read_number(root, "/proc/sys/vm/overcommit_memory") == 2 && commit < 2 * need->memory_bytes) {
            return refuse_memory(reason, need, "vm.overcommit_memory=2 (fork commits it twice)", commit,
                                 "set vm.overcommit_memory=0 or raise vm.overcommit_ratio");
        }
    }
    for (const struct group *group = MEMORY_GROUPS; group->key != NULL; group++) {
        char where[PATH_BYTES];
        int64_t room = group_room(root, cgroups, group, where, sizeof where);
        if (room < wanted) {
            return refuse_memory(reason, need, where, room, "raise it, or ask for less");
        }
    }
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        (int64_t)space.rlim_cur < wanted) {
        return refuse_memory(reason, need, "RLIMIT_AS", (int64_t)space.rlim_cur, "raise it with ulimit -v");
    }
    return 0;
}

static int check_tasks(const char *root, const char *cgroups, const struct limits_need *need,
                       struct reason *reason) {
    for (const struct group *group = PIDS_GROUPS; group->key != NULL; group++) {
        char where[PATH_BYTES];
        int64_t room = group_room(root, cgroups, group, where, sizeof where);
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
    int64_t threads = read_number(root, "/proc/sys/kernel/threads-max");
    if (threads >= 0 && threads < need->tasks) {
        return reason_set(reason, -EAGAIN, "needs %" PRId64 " tasks, but kernel.threads-max is %" PRId64,
                          need->tasks, threads);
    }
    return 0;
}

int limits_check(const char *root, const struct limits_need *need, struct reason *reason) {
    char path[PATH_BYTES];
    char cgroups[FILE_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (sys_read_file(path, cgroups, sizeof cgroups) < 0) {
        cgroups[0] = '\0';
    }
    int error = need->memory_bytes > 0 ? check_memory(root, cgroups, need, reason) : 0;
    return error != 0 ? error : check_tasks(root, cgroups, need, reason);
}
