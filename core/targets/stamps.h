/* What our own targets tell the probe of their start: three readings of the clock, written with one call when
 * main ends, so that no time before that contains a system call of ours.
 *
 * What to do stands in argv[1]: the clock ('t': TSC, 'm': CLOCK_MONOTONIC) and the descriptor of the probe's
 * stamp pages, a colon, and where in them to write. Nothing here uses the C library: the first stamp is taken
 * before that has set itself up, and one target has none. */
#ifndef CLONOMETER_TARGETS_STAMPS_H
#define CLONOMETER_TARGETS_STAMPS_H

#include <stdint.h>
#include <sys/syscall.h>

#include "base/raw.h"

/* Written as it is into the probe's stamp page (struct stamps, whose layout launch.c asserts). */
struct image_stamps {
    uint64_t entered; /* the entry that the ELF header names */
    uint64_t runs;    /* the first line of main */
    uint64_t ends;    /* the last one */
    uint32_t cpu;     /* at the entry */
};

enum { IMAGE_STAMPS_OFFSET = 16, IMAGE_STAMPS_BYTES = 28 };

#if defined(__x86_64__)

static inline uint64_t target_read_tsc(uint32_t *cpu) {
    uint32_t low;
    uint32_t high;
    uint32_t aux;
    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux)::"memory");
    *cpu = aux & 0xfffU;
    return ((uint64_t)high << 32) | low;
}

#else

static inline uint64_t target_read_tsc(uint32_t *cpu) {
    *cpu = 0;
    return 0;
}

#endif

struct target_time {
    int64_t seconds;
    int64_t nanoseconds;
};

/* A reading of the clock that `what` (argv[1]) asks for; 0 where it asks for none. */
static inline uint64_t target_read_clock(const char *what, uint32_t *cpu) {
    if (what != 0 && what[0] == 't') {
        return target_read_tsc(cpu);
    }
    if (what == 0 || what[0] != 'm') {
        return 0;
    }
    struct target_time now = {0, 0};
    raw_call4(SYS_clock_gettime, 1, (long)&now, 0, 0);
    return (uint64_t)now.seconds * 1000000000U + (uint64_t)now.nanoseconds;
}

/* The number at `*at`, which is moved past it; -1 where there is none. */
static inline long target_read_number(const char **at) {
    long number = **at >= '0' && **at <= '9' ? 0 : -1;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number * 10 + (**at - '0');
    }
    return number;
}

/* Writes to the stamp page that `what` names, `where` in it; nothing where it names none. */
static inline void target_write(const char *what, const void *bytes, long length, long where) {
    const char *at = what + 1;
    long fd = target_read_number(&at);
    if (fd < 0 || *at++ != ':') {
        return;
    }
    long offset = target_read_number(&at);
    if (offset >= 0) {
        raw_call4(SYS_pwrite64, fd, (long)bytes, length, offset + where);
    }
}

/* Sends the stamps to where `what` says; nothing where it says nothing. */
static inline void target_send(const char *what, const struct image_stamps *stamps) {
    if (what != 0 && stamps->runs != 0) {
        target_write(what, stamps, IMAGE_STAMPS_BYTES, IMAGE_STAMPS_OFFSET);
    }
}

/* For main's first line and its last one, in targets that have a C library. */
#ifdef __cplusplus
extern "C" {
#endif
void clonometer_main_begins(const char *what);
void clonometer_main_ends(const char *what);
#ifdef __cplusplus
}
#endif

#endif
