/* What the kernel tells of new tasks, from bytes to facts: pure, and so tested where the kernel refuses to
 * tell. Layouts: perf_event_open(2), ptrace(2), the format file of the tracepoint task:task_newtask. */
#ifndef CLONOMETER_TRACE_DECODE_H
#define CLONOMETER_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One task that was made. */
struct new_task {
    int32_t creator; /* process id (tgid) of the task that made it */
    int32_t tid;
    uint64_t flags; /* as the kernel received them, without the exit signal */
};

/* Where the tracepoint's record has its fields, which differs between kernels. */
struct newtask_format {
    size_t tid_at;
    size_t flags_at;
    size_t flags_bytes;
};

/* Reads the tracepoint's `format` file. 0, or -EINVAL where a field is missing. */
int decode_newtask_format(const char *text, struct newtask_format *format);

enum record_kind { RECORD_NEW_TASK, RECORD_LOST, RECORD_OTHER, RECORD_BAD };

/* One record of a perf ring, with sample_type TID | TIME | RAW. `task` is filled by a new task, `lost` raised
 * by a loss. */
enum record_kind decode_record(const unsigned char *record, size_t length,
                               const struct newtask_format *format, struct new_task *task, uint64_t *lost);

/* Copies the record at `*tail` out of a ring whose records may go over its end, and moves `*tail` behind it.
 * Its length; 0 where there is none, or one that cannot be whole, which ends the ring. */
size_t decode_ring_next(const unsigned char *ring, size_t ring_bytes, uint64_t *tail, uint64_t head,
                        unsigned char *record, size_t capacity);

enum call_kind { CALL_OTHER, CALL_MAKES_TASK, CALL_CLONE3 };

/* What a system call asks for, by its number and first argument. CALL_CLONE3: the flags are the first word of
 * the structure that the argument points to. */
enum call_kind decode_call(uint64_t number, uint64_t argument, uint64_t *flags);

#endif
