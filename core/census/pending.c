#include "census/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

void pending_add(struct pending *pending, const struct census_event *event) {
    if (pending->count == pending->room) {
        size_t room = pending->room > 0 ? 2 * pending->room : FIRST_ROOM;
        struct pending_event *more = realloc(pending->events, room * sizeof *more);
        if (more == NULL) {
            pending->error = -ENOMEM;
            free(event->more);
            return;
        }
        pending->events = more;
        pending->room = room;
    }
    pending->events[pending->count++] = (struct pending_event){*event, pending->read++};
}

static int by_time(const void *left, const void *right) {
    const struct pending_event *a = left;
    const struct pending_event *b = right;
    if (a->event.time_ns != b->event.time_ns) {
        return a->event.time_ns > b->event.time_ns ? 1 : -1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

void pending_flush(struct pending *pending, uint64_t until_ns, pending_take *take, void *context) {
    size_t done = 0;
    if (pending->count == 0) {
        return;
    }
    qsort(pending->events, pending->count, sizeof *pending->events, by_time);
    while (pending->error == 0 && done < pending->count && pending->events[done].event.time_ns < until_ns) {
        pending->error = take(context, &pending->events[done].event);
        free(pending->events[done++].event.more);
    }
    memmove(pending->events, pending->events + done, (pending->count - done) * sizeof *pending->events);
    pending->count -= done;
}

void pending_free(struct pending *pending) {
    for (size_t i = 0; i < pending->count; i++) {
        free(pending->events[i].event.more);
    }
    free(pending->events);
    *pending = (struct pending){.events = NULL};
}
