#include "events/sideband.h"

#include <string.h>

enum {
    MISC_COMM_EXEC = 1U << 13,
    MISC_BUILD_ID = 1U << 14,
    PROCESS_AT = 8,
    THREAD_AT = 12,
    /* Process and thread, time, identifier. */
    TRAILER_BYTES = 24,
    MOST_BUILD_ID = 20,
};

bool sideband_is(uint32_t type) {
    return type == SIDEBAND_COMM || type == SIDEBAND_EXIT || type == SIDEBAND_FORK || type == SIDEBAND_MMAP2;
}

static uint32_t word_at(const unsigned char *at) {
    uint32_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

static int64_t long_at(const unsigned char *at) {
    int64_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool decode_mapping(const unsigned char *record, size_t length, unsigned misc,
                           struct trace_event *event, struct record_rest *rest) {
    enum { START_AT = 16, LENGTH_AT = 24, OFFSET_AT = 32, FILE_AT = 40, NUMBER_AT = 48, NAME_AT = 72 };
    if (length < NAME_AT + 1 + TRAILER_BYTES) {
        return false;
    }
    event->kind = EVENT_MAPPED;
    event->values[0] = long_at(record + START_AT);
    event->values[1] = long_at(record + LENGTH_AT);
    event->values[2] = long_at(record + OFFSET_AT);
    if ((misc & MISC_BUILD_ID) != 0) {
        rest->build_id_bytes = record[FILE_AT] <= MOST_BUILD_ID ? record[FILE_AT] : 0;
        rest->build_id = record + FILE_AT + 4;
    } else {
        event->values[3] = long_at(record + FILE_AT);
        event->values[4] = long_at(record + NUMBER_AT);
    }
    rest->text = (const char *)record + NAME_AT;
    rest->text_bytes = strnlen(rest->text, length - TRAILER_BYTES - NAME_AT);
    return true;
}

/* Process, parent, thread, the thread that made it: fork and exit have one layout. */
static bool decode_task(const unsigned char *record, size_t length, uint32_t type,
                        struct trace_event *event) {
    enum { PARENT_AT = 12, TASK_AT = 16, BYTES = 32 };
    if (length < BYTES + TRAILER_BYTES) {
        return false;
    }
    event->kind = type == SIDEBAND_FORK ? EVENT_FORKED : EVENT_LEFT;
    event->values[0] = (int32_t)word_at(record + PROCESS_AT);
    event->values[1] = (int32_t)word_at(record + PARENT_AT);
    event->values[2] = (int32_t)word_at(record + TASK_AT);
    return true;
}

enum record_kind sideband_decode(const unsigned char *record, size_t length, uint32_t type, unsigned misc,
                                 struct trace_event *event, struct record_rest *rest) {
    bool whole = length >= THREAD_AT + 4 + TRAILER_BYTES;
    if (!whole) {
        return RECORD_BAD;
    }
    event->process = (int32_t)word_at(record + PROCESS_AT);
    event->thread = (int32_t)word_at(record + THREAD_AT);
    event->time_ns = (uint64_t)long_at(record + length - TRAILER_BYTES + 8);
    if (type == SIDEBAND_COMM) {
        event->kind = EVENT_IMAGE;
        return (misc & MISC_COMM_EXEC) != 0 ? RECORD_EVENT : RECORD_OTHER;
    }
    whole = type == SIDEBAND_MMAP2 ? decode_mapping(record, length, misc, event, rest)
                                   : decode_task(record, length, type, event);
    return whole ? RECORD_EVENT : RECORD_BAD;
}
