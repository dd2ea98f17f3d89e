/* Events of all CPUs in one order, and of these the ones of a process and of everything that it made: pure.
 */
#ifndef CLONOMETER_TRACER_COLLECT_H
#define CLONOMETER_TRACER_COLLECT_H

#include "events/events.h"

/* Texts and stacks are kept beside the events, whose values[0] and [1] then say where and how long. */
struct collection {
    struct trace_event *events;
    size_t count;
    size_t room;
    unsigned char *texts;
    size_t text_bytes;
    size_t text_room;
    uint64_t *stacks;
    size_t stack_words;
    size_t stack_room;
    uint64_t dropped; /* there was no memory for them */
};

/* Adds one; is a rings_take. */
void collection_take(void *collection, const struct trace_event *event, const struct record_rest *rest);

/* Orders by time, each CPU's own order kept. 0 or -ENOMEM. */
int collection_order(struct collection *collection);

/* Makes numbers of the pointers by which notes of raw tracepoints name tasks, says whose they are, and makes
 * the usual values of their events. Whoever is named so, or is at work, leaves a CPU later, and then the note
 * tells both; one who never does is -1. The collection must be in order. 0 or -ENOMEM. */
int collection_name_tasks(struct collection *collection);

/* Keeps what concerns `process` (as this pid namespace numbers it) and all that it and its own have made;
 * `*first` gets the kernel's number of the process, 0 where it was never seen. The collection must be in
 * order. 0 or -ENOMEM. */
int collection_keep_family(struct collection *collection, int32_t process, int32_t *first);

void collection_free(struct collection *collection);

#endif
