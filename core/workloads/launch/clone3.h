/* What the launches by clone3 share. */
#ifndef CLONOMETER_LAUNCH_CLONE3_H
#define CLONOMETER_LAUNCH_CLONE3_H

#include "base/clone.h"
#include "probe/workload.h"

/* 0, or -ENOSYS with the reason. */
int launch_clone3_available(struct reason *reason);

/* One fork-like launch, reaped by waitpid. 0 or -errno. */
int launch_clone3(const struct bench *bench, struct clone_args_v2 *args, struct sample *sample);

#endif
