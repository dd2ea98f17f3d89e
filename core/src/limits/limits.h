/* What this machine allows: asked before a condition is built, so that the instrument never endangers it. */
#ifndef CLONOMETER_LIMITS_H
#define CLONOMETER_LIMITS_H

#include <stdint.h>

#include "options.h"

struct limits_need {
    int64_t memory_bytes; /* private memory that will be written */
    int64_t tasks;        /* tasks that will exist at once beside this one */
};

/* Room that is never used: the machine must go on working beside us. */
enum { LIMITS_MARGIN_BYTES = 128 << 20 };

/* Compares the need with MemAvailable, cgroup memory and pids (v1 and v2), overcommit, RLIMIT_AS,
 * RLIMIT_NPROC and max. `root` is "" but in tests, which hand in a made /proc and /sys. 0, or -ENOMEM or
 * -EAGAIN with the limit, its value and what would raise it. */
int limits_check(const char *root, const struct limits_need *need, struct reason *reason);

#endif
