/* Handles of processes: a number is given again once its process has been waited for, a handle never is. */
#ifndef CLONOMETER_EVENTS_PIDFD_H
#define CLONOMETER_EVENTS_PIDFD_H

#include <sys/types.h>

/* Of the process that has this number now. A descriptor that exec closes, or -errno: before Linux 5.3, and
 * where a filter refuses it, there are none. */
int pidfd_of(pid_t process);

/* Sends a signal by a handle; where there is none (below zero) by the number. 0 or -errno. */
int pidfd_signal(int pidfd, pid_t process, int number);

#endif
