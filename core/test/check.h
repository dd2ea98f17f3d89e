/* What tests share: a check that says what it saw and fails the program. */
#ifndef CLONOMETER_CHECK_H
#define CLONOMETER_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEST_NOT_POSSIBLE = 77 };

#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                                  \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
