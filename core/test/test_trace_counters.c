/* Counters: the sets, readings whole and cut, and a record that carries one before its fields. */
#include <stdint.h>

#include "check.h"
#include "events/events.h"

enum { ROOM = 256, READING_AT = 40, EVENTS = 2, COUNTERS = 3 };

static void put(unsigned char *at, uint64_t value, size_t bytes) {
    memcpy(at, &value, bytes);
}

/* A group of three counters and two events: enabled 900 ns, running 300, values 11, 12, 13, 1, 2. */
static size_t make_reading(unsigned char *at) {
    const uint64_t words[] = {COUNTERS + EVENTS, 900, 300, 11, 12, 13, 1, 2};
    memcpy(at, words, sizeof words);
    return sizeof words;
}

static void check_sets(void) {
    const struct counter_set *hardware = counter_set_named("hardware");
    const struct counter_set *software = counter_set_named("software");
    CHECK(hardware != NULL && strcmp(hardware->counter[0].name, "cycles") == 0, "cycles lead");
    CHECK(software != NULL && software->counter[0].type == 1, "PERF_TYPE_SOFTWARE");
    CHECK(counter_set_named("all") == NULL && counter_set_named("") == NULL, "no such set");
    CHECK(hardware->counter[4].type == 3 && hardware->counter[4].config == 0x10003, "misses of dTLB reads");
}

static void check_readings(void) {
    unsigned char bytes[ROOM];
    struct reading reading;
    size_t length = make_reading(bytes);
    CHECK(reading_decode(bytes, length, COUNTERS, &reading) == length, "whole");
    CHECK(reading.enabled_ns == 900 && reading.running_ns == 300, "times");
    CHECK(reading.values[0] == 11 && reading.values[2] == 13 && reading.values[3] == 0, "the counters alone");
    CHECK(reading_decode(bytes, length - 1, COUNTERS, &reading) == 0, "cut");
    CHECK(reading_decode(bytes, 20, COUNTERS, &reading) == 0, "cut in its head");
    CHECK(reading_decode(bytes, length, COUNTERS_MOST + 1, &reading) == 0, "more than there is room for");
    put(bytes, 2, 8);
    CHECK(reading_decode(bytes, length, COUNTERS, &reading) == 0, "fewer values than counters");
    put(bytes, UINT64_MAX, 8);
    CHECK(reading_decode(bytes, length, COUNTERS, &reading) == 0, "a length that goes over");
}

static void check_record(void) {
    unsigned char record[ROOM] = {0};
    struct trace_event event;
    struct record_rest rest;
    struct event_format format = {
        .fields = 1, .field = {{.at = 8, .bytes = 4, .is_signed = true}}, .counters = COUNTERS};
    size_t raw_at = READING_AT + make_reading(record + READING_AT) + 4;
    put(record, 9, 4);
    put(record + 24, 5000, 8);
    put(record + raw_at - 4, 12, 4);
    put(record + raw_at + 4, 77, 4);
    put(record + raw_at + 8, 99, 4);
    size_t length = raw_at + 12;
    CHECK(record_decode(record, length, EVENT_EXIT, &format, &event, &rest) == RECORD_EVENT, "whole");
    CHECK(event.task == 77 && event.values[0] == 99, "its fields stand behind the reading");
    CHECK(rest.counters == COUNTERS && rest.reading.values[1] == 12, "its reading");
    event.cpu = 3;
    struct trace_event counts = counts_event(&event, &rest.reading);
    CHECK(counts.kind == EVENT_COUNTS && counts.cpu == 3 && counts.time_ns == 5000, "where and when");
    CHECK(counts.task == 0 && counts.process == 0, "nobody's: it says nothing of a task");
    CHECK(counts.values[0] == 900 && counts.values[1] == 300 && counts.values[4] == 13, "its values");
    CHECK(record_decode(record, READING_AT + 20, EVENT_EXIT, &format, &event, &rest) == RECORD_BAD, "cut");
    format.counters = 0;
    CHECK(record_decode(record, length, EVENT_EXIT, &format, &event, &rest) == RECORD_BAD,
          "read as one without counters it is none");
}

int main(void) {
    check_sets();
    check_readings();
    check_record();
    return 0;
}
