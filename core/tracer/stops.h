/* What ptrace tells of a task that is stopped at a system call. */
#ifndef CLONOMETER_TRACER_STOPS_H
#define CLONOMETER_TRACER_STOPS_H

#include <signal.h>
#include <stdint.h>

enum { GET_SYSCALL_INFO = 0x420e, OP_ENTRY = 1, OP_EXIT = 2, SYSCALL_STOP = SIGTRAP | 0x80 };

/* struct ptrace_syscall_info of linux/ptrace.h, which cannot be included beside sys/ptrace.h. */
struct call_info {
    uint8_t op;
    uint8_t padding[3];
    uint32_t architecture;
    uint64_t instruction_pointer;
    uint64_t stack_pointer;
    union {
        struct {
            uint64_t number;
            uint64_t arguments[6];
        } entry;
        struct {
            int64_t value;
            uint8_t is_error;
        } exit;
    };
};

#endif
