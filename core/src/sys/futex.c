#include "sys/futex.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of linux/futex.h, which musl's compiler does not find. Never FUTEX_PRIVATE_FLAG: words are shared. */
enum { OPERATION_WAIT = 0, OPERATION_WAKE = 1 };

int sys_futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns) {
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                               .tv_nsec = (long)(timeout_ns % 1000000000)};
    long result = syscall(SYS_futex, word, OPERATION_WAIT, value, timeout_ns < 0 ? NULL : &timeout, NULL, 0U);
    return result < 0 && errno != EAGAIN ? -errno : 0;
}

void sys_futex_wake(uint32_t *word) {
    syscall(SYS_futex, word, OPERATION_WAKE, INT_MAX, NULL, NULL, 0U);
}
