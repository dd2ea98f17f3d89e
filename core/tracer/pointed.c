#include "tracer/pointed.h"

#include <sys/syscall.h>

enum { SIGNAL_SET_BYTES = 8 };

static const struct {
    long number;
    struct pointed pointed[POINTED_MOST];
    size_t count;
} CALLS[] = {
    {SYS_execve, {{0, POINTED_TEXT, 0}, {1, POINTED_TEXTS, 0}}, 2},
    {SYS_execveat, {{1, POINTED_TEXT, 0}, {2, POINTED_TEXTS, 0}}, 2},
    {SYS_openat, {{1, POINTED_TEXT, 0}}, 1},
    {SYS_newfstatat, {{1, POINTED_TEXT, 0}}, 1},
    {SYS_faccessat, {{1, POINTED_TEXT, 0}}, 1},
    {SYS_readlinkat, {{1, POINTED_TEXT, 0}}, 1},
    {SYS_chdir, {{0, POINTED_TEXT, 0}}, 1},
    {SYS_rt_sigprocmask, {{1, POINTED_BYTES, SIGNAL_SET_BYTES}}, 1},
#ifdef SYS_open /* arm64 never had these */
    {SYS_open, {{0, POINTED_TEXT, 0}}, 1},
    {SYS_access, {{0, POINTED_TEXT, 0}}, 1},
    {SYS_readlink, {{0, POINTED_TEXT, 0}}, 1},
#endif
};

static size_t clone3_structure(const uint64_t arguments[6], struct pointed *pointed) {
    /* The caller says how long its structure is: younger kernels know longer ones. */
    uint64_t bytes = arguments[1] < POINTED_CLONE3_BYTES ? arguments[1] : POINTED_CLONE3_BYTES;
    if (arguments[0] == 0 || bytes == 0) {
        return 0;
    }
    *pointed = (struct pointed){0, POINTED_BYTES, (size_t)bytes};
    return 1;
}

size_t pointed_at(uint64_t number, const uint64_t arguments[6], struct pointed pointed[POINTED_MOST]) {
    size_t count = 0;
    if (number == SYS_clone3) {
        return clone3_structure(arguments, pointed);
    }
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        if ((uint64_t)CALLS[i].number != number) {
            continue;
        }
        for (size_t j = 0; j < CALLS[i].count; j++) {
            if (arguments[CALLS[i].pointed[j].argument] != 0) {
                pointed[count++] = CALLS[i].pointed[j];
            }
        }
    }
    return count;
}
