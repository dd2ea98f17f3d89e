#include "events/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events/registers.h"
#include "events/sideband.h"

enum {
    TYPE_LOST = 2,
    TYPE_SAMPLE = 9,
    TYPE_LOST_SAMPLES = 13,
    TYPE_SWITCH = 14,
    MISC_SWITCH_OUT = 1U << 13,
    MISC_SWITCH_PREEMPTED = 1U << 14,
};

struct record_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
};

const struct event_source EVENT_SOURCES[EVENT_KINDS] = {
    [EVENT_CALL_ENTER] = {"raw_syscalls/sys_enter", {"id", "args"}},
    [EVENT_CALL_EXIT] = {"raw_syscalls/sys_exit", {"id", "ret"}},
    [EVENT_NEW_TASK] = {"task/task_newtask", {"pid", "clone_flags"}},
    [EVENT_WAKE] = {"sched/sched_wakeup", {"pid", "target_cpu"}},
    [EVENT_WAKE_NEW] = {"sched/sched_wakeup_new", {"pid", "target_cpu"}},
    [EVENT_SWITCH] = {"sched/sched_switch", {"prev_pid", "prev_state", "next_pid", "next_comm"}},
    [EVENT_FAULT_USER] = {"exceptions/page_fault_user", {"address", "ip", "error_code"}},
    [EVENT_FAULT_KERNEL] = {"exceptions/page_fault_kernel", {"address", "ip", "error_code"}},
    [EVENT_EXEC] = {"sched/sched_process_exec", {"filename", "old_pid"}},
    [EVENT_EXIT] = {"sched/sched_process_exit", {"pid"}},
    [EVENT_FUTEX] = {"syscalls/sys_enter_futex", {"uaddr", "op", "val"}},
    [EVENT_LOCK_WANTED] = {"mmap_lock/mmap_lock_start_locking", {"write"}},
    [EVENT_LOCK_GOT] = {"mmap_lock/mmap_lock_acquire_returned", {"write", "success"}},
    [EVENT_WAKING] = {"sched/sched_waking", {"pid"}},
    [EVENT_CLONE_ENTER] = {"syscalls/sys_enter_clone", {"__syscall_nr", "clone_flags", "newsp"}},
    [EVENT_MOVED] = {"cgroup/cgroup_attach_task", {"dst_root", "pid", "dst_path"}},
    [EVENT_STACK] = {"syscalls/sys_enter_clone", {"__syscall_nr"}}, /* and others */
};

const char *event_kind_name(enum event_kind kind) {
    static const char *const NAMES[EVENT_KINDS] = {
        [EVENT_CALL_ENTER] = "call_enter",
        [EVENT_CALL_EXIT] = "call_exit",
        [EVENT_NEW_TASK] = "new_task",
        [EVENT_WAKE] = "wake",
        [EVENT_WAKE_NEW] = "wake_new",
        [EVENT_SWITCH] = "switch",
        [EVENT_FAULT_USER] = "fault_user",
        [EVENT_FAULT_KERNEL] = "fault_kernel",
        [EVENT_EXEC] = "exec",
        [EVENT_EXIT] = "exit",
        [EVENT_MINOR_FAULT] = "minor_fault",
        [EVENT_MAJOR_FAULT] = "major_fault",
        [EVENT_SAMPLE] = "sample",
        [EVENT_SWITCHED_OUT] = "switched_out",
        [EVENT_SWITCHED_IN] = "switched_in",
        [EVENT_FUTEX] = "futex",
        [EVENT_LOCK_WANTED] = "lock_wanted",
        [EVENT_LOCK_GOT] = "lock_got",
        [EVENT_MEMORY] = "memory",
        [EVENT_FAULTS_LEFT_OUT] = "faults_left_out",
        [EVENT_WAKING] = "waking",
        [EVENT_CLONE_ENTER] = "clone_enter",
        [EVENT_MARK] = "mark",
        [EVENT_COUNTS] = "counts",
        [EVENT_STACK] = "stack",
        [EVENT_MAPPED] = "mapped",
        [EVENT_IMAGE] = "image",
        [EVENT_FORKED] = "forked",
        [EVENT_LEFT] = "left",
        [EVENT_MOVED] = "moved",
    };
    return NAMES[kind];
}

/* Little-endian, as every machine that is known here. */
static uint64_t number_at(const unsigned char *at, size_t bytes) {
    uint64_t number = 0;
    memcpy(&number, at, bytes);
    return number;
}

static int64_t signed_at(const unsigned char *at, size_t bytes) {
    uint64_t number = number_at(at, bytes);
    unsigned unused = (unsigned)(64 - 8 * bytes);
    return (int64_t)(number << unused) >> unused;
}

/* The number after `key` in the line from `line` to `end`; -1 where there is none. */
static long number_after(const char *line, const char *end, const char *key) {
    const char *at = strstr(line, key);
    if (at == NULL || at >= end) {
        return -1;
    }
    return strtol(at + strlen(key), NULL, 10);
}

/* Whether a declaration such as "int common_pid" or "char comm[16]" declares `name`. */
static bool declares(const char *declaration, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(declaration, name); at != NULL && at < end; at = strstr(at + 1, name)) {
        bool begins = at > declaration && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '*');
        if (begins && (at[length] == ';' || at[length] == '[')) {
            return true;
        }
    }
    return false;
}

static int find_field(const char *text, const char *name, struct field *field) {
    static const char BEGIN[] = "field:";
    for (const char *line = strstr(text, BEGIN); line != NULL; line = strstr(line + 1, BEGIN)) {
        const char *newline = strchr(line, '\n');
        const char *end = newline != NULL ? newline : line + strlen(line);
        const char *stop = strchr(line, ';');
        if (stop == NULL || stop >= end || !declares(line, stop + 1, name)) {
            continue;
        }
        long at = number_after(line, end, "offset:");
        long bytes = number_after(line, end, "size:");
        if (at < 0 || bytes <= 0) {
            return -EINVAL;
        }
        const char *text_mark = strstr(line, "__data_loc");
        *field = (struct field){.at = (uint32_t)at,
                                .bytes = (uint32_t)bytes,
                                .is_signed = number_after(line, end, "signed:") == 1,
                                .is_text = text_mark != NULL && text_mark < stop};
        return field->bytes > 8 || field->is_text || (bytes & (bytes - 1)) == 0 ? 0 : -EINVAL;
    }
    return -EINVAL;
}

int event_format_read(const char *text, const char *const *names, struct event_format *format) {
    *format = (struct event_format){.fields = 0};
    for (size_t i = 0; i < EVENT_MOST_FIELDS && names[i] != NULL; i++) {
        int error = find_field(text, names[i], &format->field[i]);
        if (error != 0) {
            return error;
        }
        format->fields++;
    }
    return 0;
}

uint64_t record_identifier(const unsigned char *record, size_t length) {
    struct record_header header;
    if (length < sizeof header + 8) {
        return 0;
    }
    memcpy(&header, record, sizeof header);
    if (header.type == TYPE_SAMPLE) {
        return number_at(record + sizeof header, 8);
    }
    /* Others have it last (sample_id_all). */
    return header.type == TYPE_SWITCH || sideband_is(header.type) ? number_at(record + length - 8, 8) : 0;
}

static bool read_text(const unsigned char *raw, size_t raw_bytes, uint32_t place, struct record_rest *rest) {
    uint32_t at = place & 0xffff;
    uint32_t bytes = place >> 16;
    if (at + bytes > raw_bytes) {
        return false;
    }
    rest->text = (const char *)raw + at;
    rest->text_bytes = strnlen(rest->text, bytes);
    return true;
}

static bool read_fields(const unsigned char *raw, size_t raw_bytes, const struct event_format *format,
                        struct trace_event *event, struct record_rest *rest) {
    size_t filled = 0;
    for (size_t i = 0; i < format->fields; i++) {
        const struct field *field = &format->field[i];
        /* Of a text the record itself has where it is. */
        size_t bytes = field->is_text ? sizeof(uint32_t) : field->bytes;
        if (bytes > raw_bytes || field->at > raw_bytes - bytes) {
            return false;
        }
        const unsigned char *at = raw + field->at;
        if (field->is_text) {
            if (!read_text(raw, raw_bytes, (uint32_t)number_at(at, bytes), rest)) {
                return false;
            }
        } else if (field->bytes <= 8) {
            if (filled < EVENT_VALUES) {
                event->values[filled++] =
                    field->is_signed ? signed_at(at, field->bytes) : (int64_t)number_at(at, field->bytes);
            }
        } else {
            for (size_t done = 0; done + 8 <= field->bytes && filled < EVENT_VALUES; done += 8) {
                event->values[filled++] = (int64_t)number_at(at + done, 8);
            }
        }
    }
    return true;
}

/* Behind the raw bytes: registers, and of the user stack the room for it, what is in it, and how much of that
 * could be read. */
static bool decode_user(const unsigned char *at, size_t bytes, struct record_rest *rest) {
    if (bytes < 16) {
        return false;
    }
    rest->abi = number_at(at, 8);
    size_t used = 8;
    if (rest->abi != REGISTERS_NONE) {
        rest->registers = rest->abi == REGISTERS_WIDE ? at + used : NULL;
        used += 8 * (size_t)REGISTERS;
    }
    if (bytes < used + 8) {
        return false;
    }
    uint64_t room = number_at(at + used, 8);
    used += 8;
    if (room == 0) {
        return true;
    }
    if (bytes - used < 8 || room > bytes - used - 8) {
        return false;
    }
    rest->memory = at + used;
    uint64_t filled = number_at(at + used + room, 8);
    rest->memory_bytes = (size_t)(filled < room ? filled : room);
    return true;
}

static enum record_kind decode_sample(const unsigned char *record, size_t length, enum event_kind kind,
                                      const struct event_format *format, struct trace_event *event,
                                      struct record_rest *rest) {
    enum { PROCESS_AT = 16, THREAD_AT = 20, TIME_AT = 24, ADDRESS_AT = 32, REST_AT = 40, COMMON_PID_AT = 4 };
    size_t rest_at = REST_AT;
    if (format != NULL && format->counters > 0 && length >= REST_AT) {
        size_t used = reading_decode(record + REST_AT, length - REST_AT, format->counters, &rest->reading);
        rest->counters = used > 0 ? format->counters : 0;
        rest_at = used > 0 ? REST_AT + used : length;
    }
    if (length < rest_at + 4) {
        return RECORD_BAD;
    }
    event->process = (int32_t)number_at(record + PROCESS_AT, 4);
    event->thread = (int32_t)number_at(record + THREAD_AT, 4);
    event->time_ns = number_at(record + TIME_AT, 8);
    if (kind == EVENT_SAMPLE) {
        if (length < rest_at + 8) {
            return RECORD_BAD;
        }
        rest->stack_words = (size_t)number_at(record + rest_at, 8);
        rest->stack = record + rest_at + 8;
        return rest->stack_words <= (length - rest_at - 8) / 8 ? RECORD_EVENT : RECORD_BAD;
    }
    size_t raw_bytes = (size_t)number_at(record + rest_at, 4);
    const unsigned char *raw = record + rest_at + 4;
    if (raw_bytes > length - rest_at - 4) {
        return RECORD_BAD;
    }
    if (EVENT_SOURCES[kind].tracepoint == NULL) {
        event->values[0] = (int64_t)number_at(record + ADDRESS_AT, 8);
        return RECORD_EVENT;
    }
    if (format == NULL || raw_bytes < COMMON_PID_AT + 4) {
        return RECORD_BAD;
    }
    event->task = (int32_t)number_at(raw + COMMON_PID_AT, 4);
    if (kind == EVENT_STACK && !decode_user(raw + raw_bytes, length - rest_at - 4 - raw_bytes, rest)) {
        return RECORD_BAD;
    }
    return read_fields(raw, raw_bytes, format, event, rest) ? RECORD_EVENT : RECORD_BAD;
}

/* Header, then only sample_id: process and thread, time, identifier. */
static enum record_kind decode_switch(const unsigned char *record, size_t length, unsigned misc,
                                      struct trace_event *event) {
    enum { PROCESS_AT = 8, THREAD_AT = 12, TIME_AT = 16, BYTES = 32 };
    if (length < BYTES) {
        return RECORD_BAD;
    }
    event->process = (int32_t)number_at(record + PROCESS_AT, 4);
    event->thread = (int32_t)number_at(record + THREAD_AT, 4);
    event->time_ns = number_at(record + TIME_AT, 8);
    event->kind = (misc & MISC_SWITCH_OUT) != 0 ? EVENT_SWITCHED_OUT : EVENT_SWITCHED_IN;
    event->values[0] = (misc & MISC_SWITCH_PREEMPTED) != 0;
    return RECORD_EVENT;
}

struct trace_event counts_event(const struct trace_event *event, const struct reading *reading) {
    struct trace_event counts = {.time_ns = event->time_ns,
                                 .cpu = event->cpu,
                                 .kind = EVENT_COUNTS,
                                 .values = {(int64_t)reading->enabled_ns, (int64_t)reading->running_ns}};
    memcpy(counts.values + 2, reading->values, sizeof reading->values);
    return counts;
}

enum record_kind record_decode(const unsigned char *record, size_t length, enum event_kind kind,
                               const struct event_format *format, struct trace_event *event,
                               struct record_rest *rest) {
    enum { LOST_AT = 16, LOST_BYTES = 24, LOST_SAMPLES_AT = 8, LOST_SAMPLES_BYTES = 16 };
    struct record_header header;
    *event = (struct trace_event){.kind = (uint16_t)kind};
    *rest = (struct record_rest){.text = NULL};
    if (length < sizeof header) {
        return RECORD_BAD;
    }
    memcpy(&header, record, sizeof header);
    switch (header.type) {
    case TYPE_LOST:
        rest->lost = length >= LOST_BYTES ? number_at(record + LOST_AT, 8) : 0;
        return length >= LOST_BYTES ? RECORD_LOST : RECORD_BAD;
    case TYPE_LOST_SAMPLES:
        rest->lost = length >= LOST_SAMPLES_BYTES ? number_at(record + LOST_SAMPLES_AT, 8) : 0;
        return length >= LOST_SAMPLES_BYTES ? RECORD_LOST : RECORD_BAD;
    case TYPE_SAMPLE:
        return decode_sample(record, length, kind, format, event, rest);
    case TYPE_SWITCH:
        return decode_switch(record, length, header.misc, event);
    default:
        return sideband_is(header.type)
                   ? sideband_decode(record, length, header.type, header.misc, event, rest)
                   : RECORD_OTHER;
    }
}

static void copy_from_ring(const unsigned char *ring, size_t ring_bytes, uint64_t from, unsigned char *to,
                           size_t length) {
    size_t at = (size_t)(from % ring_bytes);
    size_t first = length < ring_bytes - at ? length : ring_bytes - at;
    memcpy(to, ring + at, first);
    memcpy(to + first, ring, length - first);
}

const unsigned char *ring_next(const unsigned char *ring, size_t ring_bytes, uint64_t *tail, uint64_t head,
                               unsigned char *spare, size_t capacity, size_t *length, uint64_t *damaged) {
    struct record_header header;
    unsigned char bytes[sizeof header];
    if (head - *tail < sizeof header) {
        return NULL;
    }
    copy_from_ring(ring, ring_bytes, *tail, bytes, sizeof bytes);
    memcpy(&header, bytes, sizeof header);
    if (header.size < sizeof header || header.size > head - *tail || header.size > capacity) {
        (*damaged)++;
        *tail = head;
        return NULL;
    }
    size_t at = (size_t)(*tail % ring_bytes);
    const unsigned char *record = ring + at;
    if (header.size > ring_bytes - at) {
        copy_from_ring(ring, ring_bytes, *tail, spare, header.size);
        record = spare;
    }
    *length = header.size;
    *tail += header.size;
    return record;
}
