/* A tracepoint's description as tracefs gives it, then records of a ring that are read by it. */
#include "census/wakes.h"
#include "events/events.h"
#include "events/registers.h"
#include "fuzz/input.h"

enum { RING_BYTES = 4096, MOST_FORMAT = 2048, MOST_RECORD = 1 << 16 };

static void read_ring(const unsigned char *ring, const struct event_format *format, enum event_kind kind,
                      uint64_t tail, uint64_t head) {
    static unsigned char spare[MOST_RECORD];
    const unsigned char *record = NULL;
    size_t length = 0;
    uint64_t damaged = 0;
    while ((record = ring_next(ring, RING_BYTES, &tail, head, spare, sizeof spare, &length, &damaged)) !=
           NULL) {
        struct trace_event event;
        struct record_rest rest;
        /* As long as it is, so that reading beyond it is seen. */
        unsigned char *exact = malloc(length);
        if (exact == NULL) {
            abort();
        }
        memcpy(exact, record, length);
        (void)record_identifier(exact, length);
        if (record_decode(exact, length, kind, format, &event, &rest) == RECORD_EVENT) {
            uint64_t sum = 0;
            for (size_t i = 0; i < rest.text_bytes; i++) {
                sum += (unsigned char)rest.text[i];
            }
            for (size_t i = 0; i < 8 * rest.stack_words; i++) {
                sum += rest.stack[i];
            }
            for (size_t i = 0; i < rest.memory_bytes; i++) {
                sum += rest.memory[i];
            }
            for (size_t i = 0; rest.registers != NULL && i < 8 * (size_t)REGISTERS; i++) {
                sum += rest.registers[i];
            }
            for (size_t i = 0; i < rest.build_id_bytes; i++) {
                sum += rest.build_id[i];
            }
            event.values[0] += (int64_t)(sum & 1);
            (void)event_kind_name((enum event_kind)event.kind);
        }
        free(exact);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char *const NAMES[EVENT_MOST_FIELDS] = {"pid", "comm", "args", "filename"};
    struct input input = {bytes, length};
    struct event_format format;
    enum event_kind kind = (enum event_kind)(input_number(&input, 1) % EVENT_KINDS);
    size_t counters = input_number(&input, 1) % (COUNTERS_MOST + 1);
    uint64_t tail = input_number(&input, 2);
    uint64_t head = tail + input_number(&input, 2) % (RING_BYTES + 1);
    char *text = input_text(&input, MOST_FORMAT);
    unsigned char *ring = malloc(RING_BYTES);
    if (ring == NULL) {
        abort();
    }
    input_take(&input, ring, RING_BYTES);
    int known = event_format_read(text, NAMES, &format);
    format.counters = counters;
    read_ring(ring, known == 0 ? &format : NULL, kind, tail, head);
    free(ring);
    free(text);
    return 0;
}
