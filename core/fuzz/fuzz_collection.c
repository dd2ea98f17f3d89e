/* Events in any order, of any task and with any pointer: ordered, named, and kept for a family. */
#include "fuzz/input.h"
#include "tracer/collect.h"

enum { MOST_EVENTS = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = {bytes, length};
    struct collection collection = {.events = NULL};
    int32_t process = (int32_t)input_number(&input, 2);
    int32_t first = 0;
    for (size_t i = 0; i < MOST_EVENTS && input.left > 0; i++) {
        uint8_t shape = (uint8_t)input_number(&input, 1);
        struct trace_event event = {.time_ns = input_number(&input, 2),
                                    .task = (int32_t)input_number(&input, (shape & 1) != 0 ? 4 : 1),
                                    .process = (int32_t)input_number(&input, 1),
                                    .thread = (int32_t)input_number(&input, (shape & 2) != 0 ? 4 : 1),
                                    .cpu = (uint16_t)input_number(&input, 2),
                                    .kind = (uint16_t)(input_number(&input, 1) % EVENT_KINDS)};
        for (size_t value = 0; value < EVENT_VALUES; value++) {
            event.values[value] = (int64_t)input_number(&input, (shape & 4) != 0 ? 8 : 1);
        }
        struct record_rest rest = {.text = NULL};
        char *text = (shape & 8) != 0 ? input_text(&input, 64) : NULL;
        rest.text = text;
        rest.text_bytes = text != NULL ? strlen(text) : 0;
        collection_take(&collection, &event, &rest);
        free(text);
    }
    if (collection_order(&collection) == 0 && collection_name_tasks(&collection) == 0) {
        (void)collection_keep_family(&collection, process, &first);
    }
    collection_free(&collection);
    return 0;
}
