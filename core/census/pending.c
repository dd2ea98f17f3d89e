#include "census/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

void pending_add(struct pending *pending, const struct census_event *event) {
    if (pending->count == pending->room) {
        size_t room = pending->room > 0 ? 2 * pending->room : FIRST_ROOM;
        struct census_event *more = realloc(pending->events, room * sizeof *more);
        if (more == NULL) {
            pending->error = -ENOMEM;
            free(event->more);
            return;
        }
        pending->events = more;
        pending->room = room;
    }
    pending->events[pending->count++] = *event;
}

static int by_time(const void *left, const void *right) {
    const struct census_event *a = left;
    const struct census_event *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

void pending_flush(struct pending *pending, uint64_t until_ns, pending_take *take, void *context) {
    size_t done = 0;
    if (pending->count == 0) {
        return;
    }
    qsort(pending->events, pending->count, sizeof *pending->events, by_time);
    while (pending->error == 0 && done < pending->count && pending->events[done].time_ns < until_ns) {
        pending->error = take(context, &pending->events[done]);
        free(pending->events[done++].more);
    }
    memmove(pending->events, pending->events + done, (pending->count - done) * sizeof *pending->events);
    pending->count -= done;
}

void pending_free(struct pending *pending) {
    for (size_t i = 0; i < pending->count; i++) {
        free(pending->events[i].more);
    }
    free(pending->events);
    *pending = (struct pending){.events = NULL};
}
