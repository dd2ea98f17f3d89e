/* A task that shares its creator's memory but not the C library's idea of a thread: it has no TLS of its own,
 * so that its code must not touch any. */
#ifndef CLONOMETER_BARE_TASK_H
#define CLONOMETER_BARE_TASK_H

#include <stdint.h>

#include "probe/workload.h"

/* What such a task needs; lies in one mapping, written before anything is measured. */
struct bare_task {
    const struct bench *bench;
    int32_t tid; /* kept by the kernel: set before the task runs, cleared when it has left */
    unsigned char *tls;
    unsigned char *stack;
    uint64_t stack_bytes;
};

/* Maps a bare task's room into bench->state. 0, or -errno with the reason. */
int bare_task_prepare(struct bench *bench, struct reason *reason);

/* The task's whole life: stamps and leaves. Takes a struct bare_task. */
__attribute__((noreturn)) void bare_task_run(void *task);

#endif
