/* What this machine allows: asked before a condition is built, so that the instrument never endangers it. */
#ifndef CLONOMETER_LIMITS_H
#define CLONOMETER_LIMITS_H

#include <stdint.h>

#include "probe/options.h"

/* What will exist at once, beside what this process has by itself. What is not named is not needed. */
struct limits_need {
    int64_t memory_bytes;  /* memory that will be written, of the process and of the kernel */
    int64_t tasks;         /* tasks */
    int64_t address_bytes; /* what is mapped, written or not (RLIMIT_AS) */
    int64_t commit_bytes;  /* private writable memory, which a fork commits once more */
    int64_t locked_bytes;  /* memory that stays resident (RLIMIT_MEMLOCK) */
    int64_t areas;         /* VMAs of one process */
    int64_t descriptors;   /* of one process, beside its own */
    int64_t files;         /* distinct open files */
    int64_t huge_pages;    /* reserved ones of the default size */
};

enum {
    LIMITS_MARGIN_BYTES = 128 << 20, /* never used: the machine must go on working beside us */
    LIMITS_OWN_DESCRIPTORS = 64      /* room for the probe's own, beside what is asked for */
};

/* Compares the need with MemAvailable, cgroup memory and pids (v1 and v2), overcommit, reserved huge pages,
 * max_map_count, nr_open, file-max, threads-max, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_MEMLOCK and RLIMIT_NPROC.
 * `root` is "" but in tests, which hand in a made /proc and /sys. 0, or -ENOMEM, -EAGAIN or -EPERM with the
 * limit, its value and what would raise it. */
int limits_check(const char *root, const struct limits_need *need, struct reason *reason);

#endif
