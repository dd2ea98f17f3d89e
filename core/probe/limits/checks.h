/* The checks behind limits_check, and how they read the machine. */
#ifndef CLONOMETER_LIMITS_CHECKS_H
#define CLONOMETER_LIMITS_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/limits/limits.h"

enum { LIMITS_PATH_BYTES = 1024, LIMITS_FILE_BYTES = 8192 };

/* The number after `key` at the start of a line, or -1. */
int64_t limits_number_after(const char *text, const char *key);

/* A file with one number; -1 where there is none, or it says "max". */
int64_t limits_read_number(const char *root, const char *path);

/* By their numbers in linux/capability.h. */
enum { LIMITS_CAP_IPC_LOCK = 14, LIMITS_CAP_SYS_RESOURCE = 24 };

/* Whether this process has the capability. */
bool limits_has_capability(const char *root, int number);

/* One controller of one hierarchy. */
struct limits_group {
    const char *key;  /* in /proc/self/cgroup, between the colons */
    const char *base; /* where its hierarchy is mounted */
    const char *limit;
    const char *usage;
};

/* The least room in a group and all groups above it, since each of them limits; INT64_MAX where none does.
 * `where` receives the limit's file and value. */
int64_t limits_group_room(const char *root, const char *cgroups, const struct limits_group *group,
                          char *where, size_t capacity);

int limits_check_memory(const char *root, const char *cgroups, const struct limits_need *need,
                        struct reason *reason);
int limits_check_address(const struct limits_need *need, struct reason *reason);
int limits_check_locked(const char *root, const struct limits_need *need, struct reason *reason);
int limits_check_tasks(const char *root, const char *cgroups, const struct limits_need *need,
                       struct reason *reason);
/* VMAs, descriptors, files, huge pages. */
int limits_check_things(const char *root, const struct limits_need *need, struct reason *reason);

#endif
