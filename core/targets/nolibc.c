/* The smallest program there is: no C library, two system calls. What an exec costs before any library. */
#include <sys/syscall.h>

#include "sys/raw.h"

__attribute__((noreturn)) void _start(void);

__attribute__((noreturn)) void _start(void) {
    static const char HELLO[] = "hello, world\n";
    raw_call4(SYS_write, 1, (long)HELLO, sizeof HELLO - 1, 0);
    for (;;) {
        raw_call4(SYS_exit_group, 0, 0, 0, 0);
    }
}
