#include "workload.h"

#include <string.h>

extern const struct workload launch_none, launch_stamp, clock_used_workload;
extern const struct workload launch_fork, launch_vfork, launch_pthread;
extern const struct workload launch_fork_exec, launch_posix_spawn;

const struct workload *const WORKLOADS[] = {
    &launch_fork,      &launch_vfork,        &launch_pthread,
    &launch_fork_exec, &launch_posix_spawn,  &launch_none,
    &launch_stamp,     &clock_used_workload, NULL,
};

const struct workload *workload_find(const char *id) {
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        if (strcmp(WORKLOADS[i]->id, id) == 0) {
            return WORKLOADS[i];
        }
    }
    return NULL;
}

bool workload_has_axis(const struct workload *workload, const char *axis) {
    for (size_t i = 0; workload->axes[i] != NULL; i++) {
        if (strcmp(workload->axes[i], axis) == 0) {
            return true;
        }
    }
    return false;
}
