/* What the kernel tells of tasks: formats of two kernels, records whole, cut, lost and over the ring's end.
 */
#include <errno.h>
#include <stdint.h>

#include "check.h"
#include "events/events.h"

enum { RAW_AT = 44, RING_BYTES = 512, ROOM = 256 };

static const char NEW_TASK[] = "name: task_newtask\nID: 205\nformat:\n"
                               "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                               "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                               "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
                               "\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n";
static const char ENTER[] = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                            "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
                            "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
static const char EXEC[] = "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                           "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
                           "\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n";
static const char FUTEX[] = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                            "\tfield:u32 * uaddr;\toffset:16;\tsize:8;\tsigned:0;\n"
                            "\tfield:int op;\toffset:24;\tsize:8;\tsigned:0;\n"
                            "\tfield:u32 val;\toffset:32;\tsize:8;\tsigned:0;\n"
                            "\tfield:u32 * uaddr2;\toffset:48;\tsize:8;\tsigned:0;\n";
static const char LOCK[] = "\tfield:struct mm_struct * mm;\toffset:8;\tsize:8;\tsigned:0;\n"
                           "\tfield:bool write;\toffset:24;\tsize:1;\tsigned:0;\n"
                           "\tfield:bool success;\toffset:25;\tsize:1;\tsigned:0;\n";

/* What a call of futex is about is behind pointers in the declaration, not in the record. */
static void check_formats_of_locks(void) {
    struct event_format format;
    CHECK(event_format_read(FUTEX, EVENT_SOURCES[EVENT_FUTEX].fields, &format) == 0, "refused");
    CHECK(format.fields == 3 && format.field[0].at == 16 && format.field[0].bytes == 8, "uaddr, not uaddr2");
    CHECK(format.field[1].at == 24 && format.field[2].at == 32, "operation and value");
    CHECK(event_format_read(LOCK, EVENT_SOURCES[EVENT_LOCK_GOT].fields, &format) == 0, "refused");
    CHECK(format.field[0].at == 24 && format.field[0].bytes == 1 && format.field[1].at == 25,
          "one byte each");
    CHECK(event_format_read(LOCK, EVENT_SOURCES[EVENT_LOCK_WANTED].fields, &format) == 0, "refused");
    CHECK(format.fields == 1 && strcmp(event_kind_name(EVENT_LOCK_WANTED), "lock_wanted") == 0, "its name");
}

static void check_formats(void) {
    struct event_format format;
    CHECK(event_format_read(NEW_TASK, EVENT_SOURCES[EVENT_NEW_TASK].fields, &format) == 0, "refused");
    CHECK(format.fields == 2 && format.field[0].at == 8 && format.field[0].is_signed, "pid, not common_pid");
    CHECK(format.field[1].at == 32 && format.field[1].bytes == 8 && !format.field[1].is_signed, "flags");
    CHECK(event_format_read(ENTER, EVENT_SOURCES[EVENT_CALL_ENTER].fields, &format) == 0, "refused");
    CHECK(format.field[1].at == 16 && format.field[1].bytes == 48, "an array");
    CHECK(event_format_read(EXEC, EVENT_SOURCES[EVENT_EXEC].fields, &format) == 0, "refused");
    CHECK(format.field[0].is_text && format.field[0].bytes == 4, "a text");
    const char *const missing[EVENT_MOST_FIELDS] = {"clone_flags"};
    CHECK(event_format_read(ENTER, missing, &format) == -EINVAL, "a field that is not there");
    CHECK(event_format_read("field:u64 clone_flags;\nx offset:8;\tsize:8;\n", missing, &format) == -EINVAL,
          "numbers of another line");
    CHECK(event_format_read("field:u64 clone_flags;\toffset:8;\tsize:3;\n", missing, &format) == -EINVAL,
          "a width that no number has");
}

static void put(unsigned char *at, uint64_t value, size_t bytes) {
    memcpy(at, &value, bytes);
}

/* A sample of a tracepoint with `raw_bytes` of fields, all zero but the common ones. */
static size_t make_sample(unsigned char *record, uint64_t identifier, uint32_t task, size_t raw_bytes) {
    memset(record, 0, ROOM);
    put(record, 9, 4);
    put(record + 6, RAW_AT + raw_bytes, 2);
    put(record + 8, identifier, 8);
    put(record + 16, 41, 4); /* process */
    put(record + 20, 43, 4); /* thread */
    put(record + 24, 1000, 8);
    put(record + 32, 0xabc, 8);
    put(record + 40, raw_bytes, 4);
    put(record + RAW_AT + 4, task, 4);
    return RAW_AT + raw_bytes;
}

static void check_new_task(void) {
    struct event_format format;
    struct trace_event event;
    struct record_rest rest;
    unsigned char record[ROOM];
    event_format_read(NEW_TASK, EVENT_SOURCES[EVENT_NEW_TASK].fields, &format);
    size_t length = make_sample(record, 77, 7043, 44);
    put(record + RAW_AT + 8, (uint32_t)-2, 4);
    put(record + RAW_AT + 32, UINT64_C(0x200000100), 8);
    CHECK(record_identifier(record, length) == 77, "its identifier");
    CHECK(record_decode(record, length, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.time_ns == 1000 && event.task == 7043 && event.process == 41 && event.thread == 43, "who");
    CHECK(event.values[0] == -2, "a signed field: %lld", (long long)event.values[0]);
    CHECK(event.values[1] == 0x200000100, "a wide field");
    CHECK(record_decode(record, length - 8, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_BAD, "cut");
    CHECK(record_decode(record, 20, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_BAD, "cut in its head");
    CHECK(record_decode(record, 3, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_BAD, "cut in its size");
    format.field[1].at = 40;
    CHECK(record_decode(record, length, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_BAD,
          "a field beyond the record");
}

static void check_arrays_and_texts(void) {
    struct event_format format;
    struct trace_event event;
    struct record_rest rest;
    unsigned char record[ROOM];
    event_format_read(ENTER, EVENT_SOURCES[EVENT_CALL_ENTER].fields, &format);
    size_t length = make_sample(record, 1, 9, 64);
    for (unsigned i = 0; i < 7; i++) {
        put(record + RAW_AT + 8 + (size_t)8 * i, 100 + i, 8);
    }
    CHECK(record_decode(record, length, EVENT_CALL_ENTER, &format, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.values[0] == 100 && event.values[6] == 106, "number and six arguments");
    event_format_read(EXEC, EVENT_SOURCES[EVENT_EXEC].fields, &format);
    length = make_sample(record, 1, 9, 32);
    put(record + RAW_AT + 8, (10U << 16) | 20U, 4);
    put(record + RAW_AT + 16, 77, 4);
    memcpy(record + RAW_AT + 20, "/bin/true", 10);
    CHECK(record_decode(record, length, EVENT_EXEC, &format, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.values[0] == 77, "its former number");
    CHECK(rest.text_bytes == 9 && memcmp(rest.text, "/bin/true", 9) == 0, "its name");
    put(record + RAW_AT + 8, (40U << 16) | 20U, 4);
    CHECK(record_decode(record, length, EVENT_EXEC, &format, &event, &rest) == RECORD_BAD, "beyond the end");
}

static void check_others(void) {
    struct trace_event event;
    struct record_rest rest;
    unsigned char record[ROOM];
    size_t length = make_sample(record, 5, 0, 4);
    CHECK(record_decode(record, length, EVENT_MINOR_FAULT, NULL, &event, &rest) == RECORD_EVENT, "a fault");
    CHECK(event.values[0] == 0xabc && event.task == 0, "its address");
    put(record + 40, 3, 8);
    CHECK(record_decode(record, 40 + 8 + 24, EVENT_SAMPLE, NULL, &event, &rest) == RECORD_EVENT, "a stack");
    CHECK(rest.stack_words == 3 && rest.stack == record + 48, "its words");
    CHECK(record_decode(record, 40 + 8 + 16, EVENT_SAMPLE, NULL, &event, &rest) == RECORD_BAD, "cut");
    memset(record, 0, sizeof record);
    put(record, 2, 4);
    put(record + 16, 7, 8);
    CHECK(record_decode(record, 24, EVENT_KINDS, NULL, &event, &rest) == RECORD_LOST && rest.lost == 7,
          "lost");
    put(record, 14, 4);
    put(record + 4, (1U << 13) | (1U << 14), 2);
    put(record + 8, 50, 4);
    put(record + 12, 51, 4);
    put(record + 16, 99, 8);
    put(record + 24, 66, 8);
    CHECK(record_identifier(record, 32) == 66, "a switch's identifier is last");
    CHECK(record_decode(record, 32, EVENT_SWITCHED_IN, NULL, &event, &rest) == RECORD_EVENT, "a switch");
    CHECK(event.kind == EVENT_SWITCHED_OUT && event.values[0] == 1 && event.time_ns == 99, "preempted");
    put(record, 5, 4);
    CHECK(record_decode(record, 32, EVENT_KINDS, NULL, &event, &rest) == RECORD_OTHER, "another kind");
}

/* A description may claim what no record has: whoever writes it is believed no further than the record goes.
 */
static void check_fields_beyond(void) {
    static const struct field BEYOND[] = {
        {.at = 41, .bytes = 4},
        {.at = UINT32_MAX, .bytes = 8},
        {.at = 8, .bytes = UINT32_MAX - 4},
        {.at = 42, .bytes = 1, .is_text = true},
    };
    for (size_t i = 0; i < sizeof BEYOND / sizeof BEYOND[0]; i++) {
        struct event_format format = {.fields = 1, .field = {BEYOND[i]}};
        struct trace_event event;
        struct record_rest rest;
        unsigned char record[ROOM];
        size_t length = make_sample(record, 1, 2, 44);
        CHECK(record_decode(record, length, EVENT_NEW_TASK, &format, &event, &rest) == RECORD_BAD,
              "field %zu", i);
    }
}

static void check_ring(void) {
    unsigned char ring[RING_BYTES];
    unsigned char record[ROOM];
    unsigned char spare[ROOM];
    const unsigned char *got = NULL;
    size_t got_bytes = 0;
    uint64_t damaged = 0;
    size_t length = make_sample(record, 1, 2, 44);
    /* The first one goes over the ring's end. */
    uint64_t start = 10 * RING_BYTES + RING_BYTES - 20;
    for (size_t i = 0; i < 2 * length; i++) {
        ring[(start + i) % RING_BYTES] = record[i % length];
    }
    uint64_t tail = start;
    uint64_t head = start + 2 * length;
    for (int i = 0; i < 2; i++) {
        got = ring_next(ring, RING_BYTES, &tail, head, spare, sizeof spare, &got_bytes, &damaged);
        CHECK(got != NULL && got_bytes == length, "record %d", i);
        CHECK((got == spare) == (i == 0), "only what goes over the end is copied");
        CHECK(memcmp(got, record, length) == 0, "record %d differs", i);
    }
    got = ring_next(ring, RING_BYTES, &tail, head, spare, sizeof spare, &got_bytes, &damaged);
    CHECK(got == NULL && tail == head, "the end");
    CHECK(damaged == 0, "an end is no damage");
    tail = start;
    got = ring_next(ring, RING_BYTES, &tail, start + length - 1, spare, sizeof spare, &got_bytes, &damaged);
    CHECK(got == NULL, "not whole");
    tail = start;
    got = ring_next(ring, RING_BYTES, &tail, head, spare, 16, &got_bytes, &damaged);
    CHECK(got == NULL && tail == head, "no room for it");
    CHECK(damaged == 2, "both are counted");
}

int main(void) {
    check_formats();
    check_formats_of_locks();
    check_new_task();
    check_arrays_and_texts();
    check_others();
    check_fields_beyond();
    check_ring();
    return 0;
}
