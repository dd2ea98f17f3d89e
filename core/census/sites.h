/* Call sites: the places in programs that make tasks, each a stack of return addresses. */
#ifndef CLONOMETER_CENSUS_SITES_H
#define CLONOMETER_CENSUS_SITES_H

#include "census/unwind.h"

enum {
    SITES_MOST = 8192,
    SITES_MOST_KNOWN = 16384,   /* unwindings that are remembered */
    SITES_MOST_A_SECOND = 2000, /* unwindings; stacks that are recognised need none */
    SITES_STACK_BYTES = 8192,   /* of each stack at most so much is copied */
};

/* Why a creation has no site. */
enum site_missing {
    SITE_LOST = -1,     /* its stack was not seen: there was no room for it */
    SITE_NARROW = -2,   /* of a 32-bit program */
    SITE_NO_SPACE = -3, /* what the creator had mapped is not known: it had gone, or may not be looked at */
    SITE_TOO_MANY = -4, /* stacks of new shapes came faster than they may be unwound, or too many */
    SITE_NO_STACK = -5, /* the kernel, or a call that is not from user code */
    SITE_MISSING_KINDS = 6,
};

/* A stack as it was copied. */
struct stack_copy {
    uint64_t abi;
    uint64_t registers[REGISTERS];
    size_t bytes;
    unsigned char memory[];
};

struct site {
    uint64_t *frames;
    uint32_t count;
    enum unwind_end end;
    uint64_t times;
};

struct known;

struct sites {
    struct spaces spaces;
    struct unwinder unwinder;
    char without[512]; /* why there is no libdw; "": there is */
    struct site *site;
    size_t count;
    uint32_t *by_frames; /* place + 1; 0: free */
    struct known *known;
    size_t known_count;
    uint32_t *by_registers; /* the same of `known`: the first of a chain */
    uint64_t second;        /* in which so many were unwound: */
    unsigned in_second;
    uint64_t unwound;
    uint64_t recognised;
    uint64_t missing[SITE_MISSING_KINDS]; /* by how much below zero */
};

/* NULL without memory. */
struct sites *sites_new(void);
void sites_free(struct sites *sites);

/* The site of a stack of a process, at a time of CLOCK_MONOTONIC: its place, or why there is none. */
int32_t sites_find(struct sites *sites, pid_t process, const struct stack_copy *copy, uint64_t now_ns);

#endif
