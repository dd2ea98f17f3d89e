#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "probe/limits/checks.h"

static const struct limits_group MEMORY_GROUPS[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
    {NULL, NULL, NULL, NULL},
};

enum { SIZE_TEXT_BYTES = 32, MIB_BITS = 20, STEP_BITS = 10 };

/* A size as people say it: 300 MiB, 20.9 GiB, 1 TiB. */
static const char *size_text(char text[SIZE_TEXT_BYTES], int64_t bytes) {
    static const char *const UNITS[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    int bits = MIB_BITS;
    while (bytes >> bits >> STEP_BITS != 0 && bits < MIB_BITS + 4 * STEP_BITS) {
        bits += STEP_BITS;
        unit++;
    }
    int64_t tenths = (int64_t)((uint64_t)bytes >> (bits - STEP_BITS)) * 10 >> STEP_BITS;
    if (unit == 0 || tenths % 10 == 0) {
        snprintf(text, SIZE_TEXT_BYTES, "%" PRId64 " %s", tenths / 10, UNITS[unit]);
    } else {
        snprintf(text, SIZE_TEXT_BYTES, "%" PRId64 ".%" PRId64 " %s", tenths / 10, tenths % 10, UNITS[unit]);
    }
    return text;
}

static int refuse(struct reason *reason, int64_t bytes, const char *limit, int64_t left, const char *remedy) {
    char needed[SIZE_TEXT_BYTES];
    char free_text[SIZE_TEXT_BYTES];
    return reason_set(reason, -ENOMEM, "needs %s of memory and a margin of %d MiB, but %s leaves %s; %s",
                      size_text(needed, bytes), LIMITS_MARGIN_BYTES >> MIB_BITS, limit,
                      size_text(free_text, left > 0 ? left : 0), remedy);
}

/* What MemAvailable, overcommit and the cgroups leave. */
int limits_check_memory(const char *root, const char *cgroups, const struct limits_need *need,
                        struct reason *reason) {
    char path[LIMITS_PATH_BYTES];
    char text[LIMITS_FILE_BYTES];
    /* Page tables take 1/512 of the memory they map, once for the parent and once for a forked child. */
    int64_t bytes = need->memory_bytes;
    int64_t wanted = bytes > 0 ? bytes + bytes / 256 + LIMITS_MARGIN_BYTES : 0;
    /* Under strict accounting a fork commits the parent's private memory once more. */
    int64_t commit_wanted = 2 * need->commit_bytes;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (sys_read_file(path, text, sizeof text) > 0) {
        int64_t left = limits_number_after(text, "MemAvailable:") * 1024;
        if (left >= 0 && left < wanted) {
            return refuse(reason, bytes, "MemAvailable", left, "free memory, or ask for less");
        }
        int64_t commit =
            (limits_number_after(text, "CommitLimit:") - limits_number_after(text, "Committed_AS:")) * 1024;
        if (limits_read_number(root, "/proc/sys/vm/overcommit_memory") == 2 && commit < commit_wanted) {
            return refuse(reason, need->commit_bytes, "vm.overcommit_memory=2 (fork commits it twice)",
                          commit, "set vm.overcommit_memory=0 or raise vm.overcommit_ratio");
        }
    }
    for (const struct limits_group *group = MEMORY_GROUPS; group->key != NULL; group++) {
        char where[LIMITS_PATH_BYTES];
        int64_t room = limits_group_room(root, cgroups, group, where, sizeof where);
        if (room < wanted) {
            return refuse(reason, bytes, where, room, "raise it, or ask for less");
        }
    }
    return 0;
}

int limits_check_address(const struct limits_need *need, struct reason *reason) {
    struct rlimit space;
    int64_t bytes = need->address_bytes > need->memory_bytes ? need->address_bytes : need->memory_bytes;
    if (bytes == 0 || getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY ||
        (int64_t)space.rlim_cur >= bytes + LIMITS_MARGIN_BYTES) {
        return 0;
    }
    return refuse(reason, bytes, "RLIMIT_AS", (int64_t)space.rlim_cur, "raise it with ulimit -v");
}

int limits_check_locked(const char *root, const struct limits_need *need, struct reason *reason) {
    enum { OWN_BYTES = 8 << 20 }; /* the probe itself, a thread's whole stack aside */
    struct rlimit locked;
    int64_t wanted = need->locked_bytes + OWN_BYTES;
    if (need->locked_bytes == 0 || limits_has_capability(root, LIMITS_CAP_IPC_LOCK) ||
        getrlimit(RLIMIT_MEMLOCK, &locked) != 0 || locked.rlim_cur == RLIM_INFINITY ||
        (int64_t)locked.rlim_cur >= wanted) {
        return 0;
    }
    return reason_set(reason, -ENOMEM,
                      "locking needs %" PRId64
                      " KiB and %d of the probe's own, but RLIMIT_MEMLOCK is %" PRId64
                      " KiB; raise it with ulimit -l, or run as root",
                      need->locked_bytes >> 10, OWN_BYTES >> 10, (int64_t)locked.rlim_cur >> 10);
}
