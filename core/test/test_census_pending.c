/* Events of one time are given in the order in which they were read, however the C library sorts, and whether
 * they were read at once or not. */
#include "census/pending.h"
#include "check.h"

enum { EARLY = 3, EVENTS = 9, TIME = 5, LARGEST = 256 };

/* In the place of the C library's: as good a sort as any, by which equal ones change places. */
void qsort(void *first, size_t count, size_t bytes, int (*compare)(const void *, const void *)) {
    unsigned char *at = first;
    unsigned char moved[LARGEST];
    CHECK(bytes <= sizeof moved, "%zu bytes", bytes);
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && compare(at + (j - 1) * bytes, at + j * bytes) >= 0; j--) {
            memcpy(moved, at + j * bytes, bytes);
            memcpy(at + j * bytes, at + (j - 1) * bytes, bytes);
            memcpy(at + (j - 1) * bytes, moved, bytes);
        }
    }
}

static int take(void *context, const struct census_event *event) {
    int64_t *next = context;
    CHECK(event->number == *next, "%lld in the place of %lld", (long long)event->number, (long long)*next);
    ++*next;
    return 0;
}

int main(void) {
    struct pending pending = {.events = NULL};
    int64_t next = -EARLY;
    for (int i = -EARLY; i < 0; i++) {
        const struct census_event event = {.time_ns = TIME - 1, .number = i};
        pending_add(&pending, &event);
    }
    for (int i = 0; i < EVENTS; i++) {
        const struct census_event event = {.time_ns = TIME, .number = i};
        pending_add(&pending, &event);
        if (i == EVENTS / 2) {
            pending_flush(&pending, TIME, take, &next);
            CHECK(next == 0, "the early ones alone");
        }
    }
    pending_flush(&pending, TIME + 1, take, &next);
    CHECK(next == EVENTS && pending.count == 0 && pending.error == 0, "all");
    pending_free(&pending);
    return 0;
}
