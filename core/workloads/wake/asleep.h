/* Whether another task of ours sleeps: a worker is idle only when the kernel says so. */
#ifndef CLONOMETER_ASLEEP_H
#define CLONOMETER_ASLEEP_H

#include <sys/types.h>

/* Sleeps a little, then until the task sleeps too, at most a second. `process` 0: this one. 0; -ESRCH when
 * the task has gone; -EBUSY when it did not go to sleep; another -errno when it cannot be seen. */
int asleep_wait(pid_t process, pid_t task);

#endif
