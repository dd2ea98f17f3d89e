#include "tracer/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, MOST_TASKS = 1 << 22 /* PID_MAX_LIMIT */ };

static void *grown(void *memory, size_t *room, size_t needed, size_t each) {
    size_t more = *room > 0 ? *room : FIRST_ROOM;
    while (more < needed) {
        more *= 2;
    }
    void *bigger = more > *room ? realloc(memory, more * each) : memory;
    *room = bigger != NULL ? more : *room;
    return bigger;
}

static int keep_text(struct collection *collection, const char *text, size_t length,
                     struct trace_event *event) {
    unsigned char *texts =
        grown(collection->texts, &collection->text_room, collection->text_bytes + length, 1);
    if (texts == NULL) {
        return -ENOMEM;
    }
    collection->texts = texts;
    memcpy(texts + collection->text_bytes, text, length);
    event->values[0] = (int64_t)collection->text_bytes;
    event->values[1] = (int64_t)length;
    collection->text_bytes += length;
    return 0;
}

static int keep_stack(struct collection *collection, const unsigned char *stack, size_t words,
                      struct trace_event *event) {
    uint64_t *stacks = grown(collection->stacks, &collection->stack_room, collection->stack_words + words,
                             sizeof *collection->stacks);
    if (stacks == NULL) {
        return -ENOMEM;
    }
    collection->stacks = stacks;
    memcpy(stacks + collection->stack_words, stack, words * sizeof *stacks);
    event->values[0] = (int64_t)collection->stack_words;
    event->values[1] = (int64_t)words;
    collection->stack_words += words;
    return 0;
}

void collection_take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct collection *collection = context;
    struct trace_event kept = *event;
    struct trace_event *events =
        grown(collection->events, &collection->room, collection->count + 1, sizeof *collection->events);
    if (events == NULL) {
        collection->dropped++;
        return;
    }
    collection->events = events;
    if ((rest->text != NULL && keep_text(collection, rest->text, rest->text_bytes, &kept) != 0) ||
        (rest->stack != NULL && keep_stack(collection, rest->stack, rest->stack_words, &kept) != 0)) {
        collection->dropped++;
        return;
    }
    events[collection->count++] = kept;
}

struct place {
    uint64_t time_ns;
    size_t index;
};

static int by_time(const void *left, const void *right) {
    const struct place *a = left;
    const struct place *b = right;
    if (a->time_ns != b->time_ns) {
        return a->time_ns > b->time_ns ? 1 : -1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

int collection_order(struct collection *collection) {
    if (collection->count == 0) {
        return 0;
    }
    struct place *places = malloc(collection->count * sizeof *places);
    struct trace_event *ordered = malloc(collection->count * sizeof *ordered);
    if (places == NULL || ordered == NULL) {
        free(places);
        free(ordered);
        return -ENOMEM;
    }
    for (size_t i = 0; i < collection->count; i++) {
        places[i] = (struct place){.time_ns = collection->events[i].time_ns, .index = i};
    }
    qsort(places, collection->count, sizeof *places, by_time);
    for (size_t i = 0; i < collection->count; i++) {
        ordered[i] = collection->events[places[i].index];
    }
    free(places);
    free(collection->events);
    collection->events = ordered;
    collection->room = collection->count;
    return 0;
}

/* Who belongs to the family, by the kernel's numbers; and which of these a number of our namespace means. */
struct family {
    uint8_t *member;
    int32_t *task_of;
};

static bool has(const struct family *family, int64_t task) {
    return task > 0 && task < MOST_TASKS && family->member[task] != 0;
}

static void add(struct family *family, int64_t task) {
    if (task > 0 && task < MOST_TASKS) {
        family->member[task] = 1;
    }
}

/* Events without a tracepoint name the task only as our namespace does. */
static void name_task(const struct family *family, struct trace_event *event) {
    bool known = event->thread > 0 && event->thread < MOST_TASKS;
    if (EVENT_SOURCES[event->kind].tracepoint != NULL) {
        if (known && event->task > 0) {
            family->task_of[event->thread] = event->task;
        }
    } else if (known) {
        event->task = family->task_of[event->thread] != 0 ? family->task_of[event->thread] : event->thread;
    }
}

static bool concerns(const struct family *family, const struct trace_event *event) {
    if (has(family, event->task)) {
        return true;
    }
    switch (event->kind) {
    case EVENT_WAKE:
    case EVENT_WAKE_NEW:
        return has(family, event->values[0]);
    case EVENT_SWITCH:
        return has(family, event->values[0]) || has(family, event->values[2]);
    default:
        return false;
    }
}

int collection_keep_family(struct collection *collection, int32_t process, int32_t *first) {
    struct family family = {.member = calloc(MOST_TASKS, sizeof *family.member),
                            .task_of = calloc(MOST_TASKS, sizeof *family.task_of)};
    size_t kept = 0;
    bool keep = false;
    *first = 0;
    if (family.member == NULL || family.task_of == NULL) {
        free(family.member);
        free(family.task_of);
        return -ENOMEM;
    }
    for (size_t i = 0; i < collection->count; i++) {
        struct trace_event event = collection->events[i];
        name_task(&family, &event);
        if (event.process == process && event.task > 0) {
            *first = *first == 0 && event.thread == process ? event.task : *first;
            add(&family, event.task);
        }
        if (event.kind == EVENT_NEW_TASK && has(&family, event.task)) {
            add(&family, event.values[0]);
        }
        /* What counters showed belongs to the event before it, whosever that is. */
        keep = event.kind == EVENT_COUNTS ? keep : concerns(&family, &event);
        if (keep) {
            collection->events[kept++] = event;
        }
    }
    collection->count = kept;
    free(family.member);
    free(family.task_of);
    return 0;
}

void collection_free(struct collection *collection) {
    free(collection->events);
    free(collection->texts);
    free(collection->stacks);
    *collection = (struct collection){.events = NULL};
}
