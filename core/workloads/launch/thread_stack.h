/* The conditions of a thread's launch: attributes, and the stack where it is ours. */
#ifndef CLONOMETER_THREAD_STACK_H
#define CLONOMETER_THREAD_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "probe/workload.h"

struct thread_settings {
    pthread_attr_t attributes;
    unsigned char *stack; /* ours; NULL: the library's */
    size_t stack_bytes;
    size_t guard_bytes; /* below it */
    bool huge;
    bool fresh; /* a new mapping for every thread */
};

/* Puts the settings into bench->state, which stays NULL where everything is the library's default. 0, or
 * -errno with the reason. */
int thread_settings_prepare(struct bench *bench, struct reason *reason);

/* Maps the stack anew. 0 or -errno. */
int thread_stack_renew(struct thread_settings *settings);

/* What the process must have been started with so that glibc keeps no stacks; NULL: nothing. */
const char *thread_tunables(const struct request *request);

/* Hooks of the options: whether this machine has a value. 0, or -errno with the reason. */
int thread_stack_kind_available(int64_t stack_kind, struct reason *reason);
int thread_stack_cache_available(int64_t stack_cache, struct reason *reason);

#endif
