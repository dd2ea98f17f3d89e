/* From pointers to numbers of tasks: pure. A program at a raw tracepoint may compare pointers to tasks, but
 * not look behind them. */
#include <errno.h>
#include <stdlib.h>

#include "tracer/collect.h"

enum { FEWEST_PLACES = 64, CPUS = UINT16_MAX + 1 };
/* Of a switch (include/linux/sched.h): a state that the scheduler keeps to itself, and what of it and of
 * being pushed off the record of the tracepoint tells. */
enum { STATE_DEAD = 0x80, TOLD_STATES = 0x7f, TOLD_GONE = 0x20, TOLD_PUSHED_OFF = 0x100 };

struct named {
    int64_t pointer; /* 0: nobody */
    int64_t task;    /* as it was when it next left a CPU */
    int64_t cpu;     /* where it next came onto one */
};

struct names {
    struct named *places;
    size_t mask;
    int32_t *leaves; /* who next leaves each CPU */
};

static struct named *find(const struct names *names, int64_t pointer) {
    size_t at = ((uint64_t)pointer >> 6) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & names->mask;
    while (names->places[at].pointer != 0 && names->places[at].pointer != pointer) {
        at = (at + 1) & names->mask;
    }
    return &names->places[at];
}

static int make_room(struct names *names, const struct collection *collection) {
    size_t switches = 0;
    size_t places = FEWEST_PLACES;
    for (size_t i = 0; i < collection->count; i++) {
        switches += collection->events[i].kind == EVENT_SWITCH;
    }
    /* Each switch tells of two. */
    while (places < 4 * switches) {
        places *= 2;
    }
    names->mask = places - 1;
    names->places = calloc(places, sizeof *names->places);
    names->leaves = malloc(CPUS * sizeof *names->leaves);
    if (names->places == NULL || names->leaves == NULL) {
        return -ENOMEM;
    }
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        names->leaves[cpu] = EVENT_TASK_UNKNOWN;
    }
    return 0;
}

static struct named *note(const struct names *names, int64_t pointer) {
    struct named *entry = find(names, pointer);
    if (entry->pointer == 0) {
        *entry = (struct named){.pointer = pointer, .task = -1, .cpu = -1};
    }
    return entry;
}

static void name_switch(const struct names *names, struct trace_event *event) {
    int64_t state = event->values[1];
    struct named *comes = note(names, event->values[2]);
    comes->cpu = event->cpu;
    event->values[2] = comes->task;
    struct named *leaves = note(names, event->values[0]);
    /* What stands behind the pointer from here on back to where it came. */
    *leaves = (struct named){.pointer = leaves->pointer, .task = event->task, .cpu = -1};
    event->values[0] = event->task;
    event->values[1] = event->values[3] != 0       ? TOLD_PUSHED_OFF
                       : (state & STATE_DEAD) != 0 ? TOLD_GONE
                                                   : state & TOLD_STATES;
    event->values[3] = 0;
}

static void name_other(const struct names *names, struct trace_event *event) {
    const struct named *entry = find(names, event->values[0]);
    bool known = entry->pointer != 0;
    event->values[0] = known ? entry->task : -1;
    if (event->kind != EVENT_NEW_TASK) {
        event->values[1] = known ? entry->cpu : -1;
    }
}

int collection_name_tasks(struct collection *collection) {
    struct names names = {.places = NULL};
    int error = make_room(&names, collection);
    /* From the last event to the first: memory of a task is used again only once it has left for ever. */
    for (size_t i = collection->count; error == 0 && i-- > 0;) {
        struct trace_event *event = &collection->events[i];
        if (event->kind == EVENT_SWITCH) {
            names.leaves[event->cpu] = event->task;
        } else if (event->task == EVENT_TASK_UNKNOWN) {
            event->task = names.leaves[event->cpu];
        }
        if (event->values[EVENT_BY_POINTER] == 0) {
            continue;
        }
        event->values[EVENT_BY_POINTER] = 0;
        if (event->kind == EVENT_SWITCH) {
            name_switch(&names, event);
        } else if (event->kind == EVENT_WAKE || event->kind == EVENT_WAKE_NEW ||
                   event->kind == EVENT_NEW_TASK) {
            name_other(&names, event);
        }
    }
    free(names.places);
    free(names.leaves);
    return error;
}
