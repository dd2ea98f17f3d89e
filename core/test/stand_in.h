/* The program's `syscall` in the place of the C library's: a test changes the words, or answers itself. */
#ifndef CLONOMETER_TEST_STAND_IN_H
#define CLONOMETER_TEST_STAND_IN_H

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/raw.h"

/* The test's: 0 lets the kernel be asked with the words as they are now, a negative errno is the answer. */
static long stands_in(long number, long *words);

/* Callers give as many words as their call takes: what lies behind those is read as well. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...) {
    long words[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++) {
        words[i] = va_arg(more, long);
    }
    va_end(more);
    long result = stands_in(number, words);
    if (result == 0) {
        result = raw_call6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    }
    errno = result < 0 ? (int)-result : errno;
    return result < 0 ? -1 : result;
}

#endif
