/* What the parent and the task that walks share, in the arena. */
#ifndef CLONOMETER_CACHES_WALKER_H
#define CLONOMETER_CACHES_WALKER_H

#include <sys/types.h>

#include "base/sys.h"
#include "workloads/gate/gate.h"

struct walker {
    struct gate gate;  /* opened once for each walk */
    struct tally done; /* walks; the first means that the memory is there */
    uint32_t walks;
    pid_t starter;
    pid_t process; /* 0: none */
    int error;     /* of its own preparation */
    int64_t bytes;
    struct sys_cpus cpus;
};

#endif
