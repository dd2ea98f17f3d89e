#include "probe/limits/limits.h"

#include <stdio.h>

#include "base/sys.h"
#include "probe/limits/checks.h"

int limits_check(const char *root, const struct limits_need *need, struct reason *reason) {
    char path[LIMITS_PATH_BYTES];
    char cgroups[LIMITS_FILE_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (sys_read_file(path, cgroups, sizeof cgroups) < 0) {
        cgroups[0] = '\0';
    }
    int error = limits_check_things(root, need, reason);
    error = error != 0 ? error : limits_check_memory(root, cgroups, need, reason);
    error = error != 0 ? error : limits_check_address(need, reason);
    error = error != 0 ? error : limits_check_locked(root, need, reason);
    return error != 0 ? error : limits_check_tasks(root, cgroups, need, reason);
}
