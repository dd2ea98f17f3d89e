/* What was built of the parent's condition; part of the bench, so kept free of everything else. */
#ifndef CLONOMETER_PARENT_STATE_H
#define CLONOMETER_PARENT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parent_threads;

struct parent {
    bool touches;          /* whether its memory is touched before each launch */
    bool prepares;         /* whether anything is done before each launch */
    unsigned char *memory; /* of parent_bytes; NULL: none */
    size_t memory_step;    /* bytes from one touch to the next: the size of its pages */
    int memory_fd;         /* the file it maps; 0: none */
    unsigned char *areas;  /* of vmas, a page each; NULL: none */
    int64_t descriptors;   /* a child that closes all files closes those below this */
    void *shared;          /* memory that children do not inherit, for the threads' list */
    int64_t threads;       /* of parent_threads, how many were started */
};

#endif
