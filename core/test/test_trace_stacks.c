/* Records of user stacks, and of what becomes of address spaces. */
#include <stdint.h>

#include "check.h"
#include "events/events.h"
#include "events/registers.h"

enum { ROOM = 1024, RAW_AT = 44, RAW_BYTES = 12, TRAILER = 24, MMAP2 = 10, COMM = 3, FORK = 7, EXIT = 4 };

static void put(unsigned char *at, uint64_t value, size_t bytes) {
    memcpy(at, &value, bytes);
}

static size_t make_stack(unsigned char *record, uint64_t abi, uint64_t room, uint64_t filled) {
    size_t at = RAW_AT + RAW_BYTES;
    memset(record, 0, ROOM);
    put(record, 9, 4);
    put(record + 16, 41, 4);
    put(record + 40, RAW_BYTES, 4);
    put(record + RAW_AT + 4, 43, 4);
    put(record + RAW_AT + 8, 56, 4);
    put(record + at, abi, 8);
    at += 8;
    for (unsigned i = 0; abi != REGISTERS_NONE && i < REGISTERS; i++, at += 8) {
        put(record + at, 100 + i, 8);
    }
    put(record + at, room, 8);
    at += 8;
    memset(record + at, 0x5a, room);
    at += room;
    if (room > 0) {
        put(record + at, filled, 8);
        at += 8;
    }
    return at;
}

static void check_stacks(void) {
    unsigned char record[ROOM];
    struct trace_event event;
    struct record_rest rest;
    struct event_format format = {.fields = 1, .field = {{.at = 8, .bytes = 4, .is_signed = true}}};
    size_t length = make_stack(record, REGISTERS_WIDE, 64, 40);
    CHECK(record_decode(record, length, EVENT_STACK, &format, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.task == 43 && event.process == 41 && event.values[0] == 56, "whose, of which call");
    CHECK(rest.registers != NULL && rest.registers[0] == 100, "registers");
    CHECK(rest.memory_bytes == 40 && rest.memory[39] == 0x5a, "as much as was copied");
    for (size_t cut = 1; cut < length - RAW_AT - RAW_BYTES; cut++) {
        CHECK(record_decode(record, length - cut, EVENT_STACK, &format, &event, &rest) == RECORD_BAD,
              "cut by %zu", cut);
    }
    put(record + length - 8, UINT64_MAX, 8);
    CHECK(record_decode(record, length, EVENT_STACK, &format, &event, &rest) == RECORD_EVENT &&
              rest.memory_bytes == 64,
          "no more than there is room for");
    put(record + length - 8 - 64 - 8, UINT64_MAX, 8);
    CHECK(record_decode(record, length, EVENT_STACK, &format, &event, &rest) == RECORD_BAD, "too large");
    length = make_stack(record, REGISTERS_NARROW, 0, 0);
    CHECK(record_decode(record, length, EVENT_STACK, &format, &event, &rest) == RECORD_EVENT &&
              rest.registers == NULL && rest.abi == REGISTERS_NARROW,
          "of a 32-bit program");
    length = make_stack(record, REGISTERS_NONE, 0, 0);
    CHECK(record_decode(record, length, EVENT_STACK, &format, &event, &rest) == RECORD_EVENT &&
              rest.registers == NULL && rest.memory_bytes == 0,
          "of the kernel");
}

static void begin(unsigned char *record, uint32_t type, unsigned misc, size_t length) {
    memset(record, 0, ROOM);
    put(record, type, 4);
    put(record + 4, misc, 2);
    put(record + 6, length, 2);
    put(record + 8, 41, 4);
    put(record + 12, 43, 4);
    put(record + length - 16, 9000, 8);
    put(record + length - 8, 77, 8);
}

static void check_mappings(void) {
    enum { LENGTH = 72 + 16 + TRAILER };
    unsigned char record[ROOM];
    struct trace_event event;
    struct record_rest rest;
    begin(record, MMAP2, 0, LENGTH);
    put(record + 16, 0x7000, 8);
    put(record + 24, 0x1000, 8);
    put(record + 32, 0x2000, 8);
    put(record + 48, 1234, 8);
    memcpy(record + 72, "/lib/libx.so", 13);
    CHECK(record_identifier(record, LENGTH) == 77, "its identifier");
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.kind == EVENT_MAPPED && event.process == 41 && event.time_ns == 9000, "who, when");
    CHECK(event.values[0] == 0x7000 && event.values[1] == 0x1000 && event.values[2] == 0x2000, "where");
    CHECK(event.values[4] == 1234 && rest.build_id_bytes == 0, "which file");
    CHECK(rest.text_bytes == 12 && memcmp(rest.text, "/lib/libx.so", 12) == 0, "its name");
    put(record + 4, 1U << 14, 2);
    record[40] = 20;
    record[44] = 0xab;
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT, "a build id");
    CHECK(rest.build_id_bytes == 20 && rest.build_id[0] == 0xab && event.values[4] == 0, "of the file");
    record[40] = 200;
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT &&
              rest.build_id_bytes == 0,
          "one that is too long is none");
    CHECK(record_decode(record, 72 + TRAILER, EVENT_MAPPED, NULL, &event, &rest) == RECORD_BAD, "cut");
}

static void check_tasks(void) {
    enum { LENGTH = 32 + TRAILER };
    unsigned char record[ROOM];
    struct trace_event event;
    struct record_rest rest;
    begin(record, FORK, 0, LENGTH);
    put(record + 12, 40, 4);
    put(record + 16, 44, 4);
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT, "a fork");
    CHECK(event.kind == EVENT_FORKED && event.values[0] == 41 && event.values[1] == 40, "of which process");
    CHECK(event.values[2] == 44, "which task");
    begin(record, EXIT, 0, LENGTH);
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT &&
              event.kind == EVENT_LEFT,
          "an end");
    CHECK(record_decode(record, LENGTH - 8, EVENT_MAPPED, NULL, &event, &rest) == RECORD_BAD, "cut");
    begin(record, COMM, 1U << 13, LENGTH);
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_EVENT &&
              event.kind == EVENT_IMAGE,
          "another program");
    begin(record, COMM, 0, LENGTH);
    CHECK(record_decode(record, LENGTH, EVENT_MAPPED, NULL, &event, &rest) == RECORD_OTHER, "only a name");
}

int main(void) {
    check_stacks();
    check_mappings();
    check_tasks();
    return 0;
}
