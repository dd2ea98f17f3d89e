/* In which control group of one hierarchy tasks are, by number: groups are known by a number for each path,
 * and those that are not watched have none. */
#ifndef CLONOMETER_CENSUS_CGROUPS_H
#define CLONOMETER_CENSUS_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/reason.h"

/* Not numbers of groups: the task is not among those that are watched; its group could not be read, or there
 * are too many. */
enum { CGROUP_OUTSIDE = -2, CGROUP_UNKNOWN = -1, CGROUPS_MOST = 8192 };

struct cgroups {
    int64_t hierarchy;  /* as /proc/PID/cgroup numbers it; 0: version 2 */
    const char *within; /* of which group all are watched, with those below it; "": of all */
    char **path;
    size_t count;
    bool full;         /* there was no number left for a group */
    bool in_namespace; /* paths in the kernel's events then differ from those of /proc */
};

/* `text` is HIERARCHY:PATH, and stays. 0, -EINVAL with the reason, or -ENOMEM. */
int cgroups_open(struct cgroups *cgroups, const char *text, struct reason *reason);
void cgroups_close(struct cgroups *cgroups);

/* The path of one hierarchy in the text of /proc/PID/cgroup, which does not end it; NULL where there is none.
 * Pure. */
const char *cgroups_line(const char *text, int64_t hierarchy, size_t *length);

/* The number of a path: at its first time a new one. */
int32_t cgroups_number(struct cgroups *cgroups, const char *path, size_t length);

/* The same of a task, as /proc tells, in the numbers of our PID namespace. */
int32_t cgroups_of(struct cgroups *cgroups, pid_t task);

#endif
