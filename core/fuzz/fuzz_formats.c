/* Fields of a tracepoint at places that a description may claim, and a record of any length read by them. */
#include "events/events.h"
#include "fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = {bytes, length};
    struct event_format format = {.fields = input_number(&input, 1) % (EVENT_MOST_FIELDS + 1)};
    enum event_kind kind = (enum event_kind)(input_number(&input, 1) % EVENT_COUNTS);
    struct trace_event event;
    struct record_rest rest;
    for (size_t i = 0; i < format.fields; i++) {
        /* Such as event_format_read lets through. */
        uint8_t shape = (uint8_t)input_number(&input, 1);
        format.field[i] = (struct field){.at = (uint32_t)input_number(&input, 4),
                                         .bytes = (uint32_t)input_number(&input, 4),
                                         .is_signed = (shape & 1) != 0,
                                         .is_text = (shape & 2) != 0};
        struct field *field = &format.field[i];
        if (field->bytes == 0 || (field->bytes <= 8 && !field->is_text)) {
            field->bytes = 1U << (field->bytes & 3);
        }
    }
    format.counters = input_number(&input, 1) % (COUNTERS_MOST + 1);
    unsigned char *record = malloc(input.left > 0 ? input.left : 1);
    if (record == NULL) {
        abort();
    }
    size_t record_bytes = input.left;
    input_take(&input, record, record_bytes);
    if (record_decode(record, record_bytes, kind, &format, &event, &rest) == RECORD_EVENT) {
        uint64_t sum = 0;
        for (size_t i = 0; i < rest.text_bytes; i++) {
            sum += (unsigned char)rest.text[i];
        }
        event.values[0] += (int64_t)(sum & 1);
    }
    free(record);
    return 0;
}
