#include "workloads/wake/asleep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/sys.h"

/* Long enough for a task that was just let go to reach its sleep, and for its CPU to begin to idle. */
enum { SETTLE_NS = 100000, LOOKS = 10000 };

int asleep_wait(pid_t process, pid_t task) {
    char path[64];
    char text[256];
    if (process == 0) {
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)task);
    } else {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)task);
    }
    struct timespec pause = {.tv_nsec = SETTLE_NS};
    for (int look = 0; look < LOOKS; look++) {
        nanosleep(&pause, NULL);
        long length = sys_read_file(path, text, sizeof text);
        if (length < 0) {
            return length == -ENOENT ? -ESRCH : (int)length;
        }
        /* The name in brackets may hold anything; the state follows the last one. */
        const char *end = strrchr(text, ')');
        if (end != NULL && end[1] == ' ' && end[2] == 'S') {
            return 0;
        }
        if (end != NULL && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X')) {
            return -ESRCH;
        }
    }
    return -EBUSY;
}
