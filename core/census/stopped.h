/* The stack of a task that ptrace has stopped: of it the same is copied as by perf at a tracepoint. */
#ifndef CLONOMETER_CENSUS_STOPPED_H
#define CLONOMETER_CENSUS_STOPPED_H

#include "census/sites.h"

/* The place of a stopped task's call in its program, or why there is none (sites.h). */
int32_t stopped_site(struct sites *sites, pid_t task, uint64_t now_ns);

#endif
