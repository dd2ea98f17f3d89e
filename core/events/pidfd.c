#include "events/pidfd.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same numbers on all architectures. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int pidfd_of(pid_t process) {
    long pidfd = syscall(SYS_pidfd_open, process, 0);
    return pidfd < 0 ? -errno : (int)pidfd;
}

int pidfd_signal(int pidfd, pid_t process, int number) {
    long error = pidfd >= 0 ? syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) : -1;
    /* A filter may let handles be opened and refuse to send by them. */
    if (pidfd < 0 || (error != 0 && (errno == ENOSYS || errno == EPERM))) {
        error = kill(process, number);
    }
    return error == 0 ? 0 : -errno;
}
