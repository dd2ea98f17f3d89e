/* Events that were read, until all that came before them must have been read as well: rings of several CPUs
 * are read one after the other. */
#ifndef CLONOMETER_CENSUS_PENDING_H
#define CLONOMETER_CENSUS_PENDING_H

#include "census/family.h"

struct pending {
    struct census_event *events;
    size_t count;
    size_t room;
    int error; /* the first one; nothing is taken after it */
};

void pending_add(struct pending *pending, const struct census_event *event);

/* Gives the family what happened before `until_ns`, in the order of time. */
void pending_flush(struct pending *pending, struct family *family, uint64_t until_ns);

void pending_free(struct pending *pending);

#endif
