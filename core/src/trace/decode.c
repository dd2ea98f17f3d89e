#include "trace/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "sys/clone.h"

enum { TYPE_LOST = 2, TYPE_SAMPLE = 9, EXIT_SIGNAL_BITS = 0xff };

struct record_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
};

/* The number after `key` in the line where the field is declared; -1 where there is none. */
static long field_number(const char *text, const char *name, const char *key) {
    const char *at = strstr(text, name);
    const char *end = at != NULL ? strchr(at, '\n') : NULL;
    const char *number = at != NULL ? strstr(at, key) : NULL;
    if (number == NULL || (end != NULL && number > end)) {
        return -1;
    }
    return strtol(number + strlen(key), NULL, 10);
}

int decode_newtask_format(const char *text, struct newtask_format *format) {
    /* The blank keeps common_pid away. */
    long tid = field_number(text, " pid;", "offset:");
    long flags = field_number(text, " clone_flags;", "offset:");
    long bytes = field_number(text, " clone_flags;", "size:");
    if (tid < 0 || flags < 0 || (bytes != 4 && bytes != 8)) {
        return -EINVAL;
    }
    *format = (struct newtask_format){
        .tid_at = (size_t)tid, .flags_at = (size_t)flags, .flags_bytes = (size_t)bytes};
    return 0;
}

/* Little-endian, as every machine that is known here. */
static uint64_t number_at(const unsigned char *at, size_t bytes) {
    uint64_t number = 0;
    memcpy(&number, at, bytes);
    return number;
}

enum record_kind decode_record(const unsigned char *record, size_t length,
                               const struct newtask_format *format, struct new_task *task, uint64_t *lost) {
    enum { PID_AT = 8, RAW_SIZE_AT = 24, RAW_AT = 28, LOST_AT = 16, LOST_BYTES = 24 };
    struct record_header header;
    if (length < sizeof header) {
        return RECORD_BAD;
    }
    memcpy(&header, record, sizeof header);
    if (header.type == TYPE_LOST && length >= LOST_BYTES) {
        *lost += number_at(record + LOST_AT, sizeof *lost);
        return RECORD_LOST;
    }
    if (header.type != TYPE_SAMPLE) {
        return RECORD_OTHER;
    }
    if (length < RAW_AT) {
        return RECORD_BAD;
    }
    size_t raw_bytes = (size_t)number_at(record + RAW_SIZE_AT, 4);
    const unsigned char *raw = record + RAW_AT;
    if (raw_bytes > length - RAW_AT || format->tid_at + 4 > raw_bytes ||
        format->flags_at + format->flags_bytes > raw_bytes) {
        return RECORD_BAD;
    }
    task->creator = (int32_t)number_at(record + PID_AT, 4);
    task->tid = (int32_t)number_at(raw + format->tid_at, 4);
    task->flags = number_at(raw + format->flags_at, format->flags_bytes);
    return RECORD_NEW_TASK;
}

static void copy_from_ring(const unsigned char *ring, size_t ring_bytes, uint64_t from, unsigned char *to,
                           size_t length) {
    size_t at = (size_t)(from % ring_bytes);
    size_t first = length < ring_bytes - at ? length : ring_bytes - at;
    memcpy(to, ring + at, first);
    memcpy(to + first, ring, length - first);
}

size_t decode_ring_next(const unsigned char *ring, size_t ring_bytes, uint64_t *tail, uint64_t head,
                        unsigned char *record, size_t capacity) {
    struct record_header header;
    unsigned char bytes[sizeof header];
    if (head - *tail < sizeof header) {
        return 0;
    }
    copy_from_ring(ring, ring_bytes, *tail, bytes, sizeof bytes);
    memcpy(&header, bytes, sizeof header);
    if (header.size < sizeof header || header.size > head - *tail || header.size > capacity) {
        *tail = head;
        return 0;
    }
    copy_from_ring(ring, ring_bytes, *tail, record, header.size);
    *tail += header.size;
    return header.size;
}

enum call_kind decode_call(uint64_t number, uint64_t argument, uint64_t *flags) {
    if (number == SYS_clone3) {
        return CALL_CLONE3;
    }
    if (number == SYS_clone) {
        /* The kernel takes 32 bits of them. */
        *flags = argument & UINT32_MAX & ~(uint64_t)EXIT_SIGNAL_BITS;
        return CALL_MAKES_TASK;
    }
#ifdef SYS_fork /* arm64 never had these two */
    if (number == SYS_fork) {
        *flags = 0;
        return CALL_MAKES_TASK;
    }
#endif
#ifdef SYS_vfork
    if (number == SYS_vfork) {
        *flags = TASK_VM | TASK_VFORK;
        return CALL_MAKES_TASK;
    }
#endif
    return CALL_OTHER;
}
