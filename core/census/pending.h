/* Events that were read, until all that came before them must have been read as well: rings of several CPUs
 * are read one after the other. */
#ifndef CLONOMETER_CENSUS_PENDING_H
#define CLONOMETER_CENSUS_PENDING_H

#include "census/family.h"

struct pending_event {
    struct census_event event;
    uint64_t place; /* in which it was read */
};

struct pending {
    struct pending_event *events;
    size_t count;
    size_t room;
    uint64_t read;
    int error; /* the first one; nothing is taken after it */
};

/* Keeps `more` of the event as well, and frees it when it was given away. */
void pending_add(struct pending *pending, const struct census_event *event);

/* Gives what happened before `until_ns`, in the order of time; what has one time, in that in which it was
 * read. 0 or -errno, which becomes `error`. */
typedef int pending_take(void *context, const struct census_event *event);
void pending_flush(struct pending *pending, uint64_t until_ns, pending_take *take, void *context);

void pending_free(struct pending *pending);

#endif
