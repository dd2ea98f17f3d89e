/* What a system call asks for, from its number and arguments: pure. Source: clone(2). */
#ifndef CLONOMETER_EVENTS_DECODE_H
#define CLONOMETER_EVENTS_DECODE_H

#include <stdint.h>

/* One task that was made. */
struct new_task {
    int32_t creator; /* process id (tgid) of the task that made it */
    int32_t tid;
    uint64_t flags; /* as the kernel received them, without the exit signal */
};

enum call_kind { CALL_OTHER, CALL_MAKES_TASK, CALL_CLONE3 };

/* What a system call asks for, by its number and first argument. CALL_CLONE3: the flags are the first word of
 * the structure that the argument points to. */
enum call_kind decode_call(uint64_t number, uint64_t argument, uint64_t *flags);

#endif
