/* The user stacks of creators, from rings of their own: where these have too little room a creation has no
 * call site, and is counted all the same. */
#ifndef CLONOMETER_CENSUS_STACKS_H
#define CLONOMETER_CENSUS_STACKS_H

#include "census/family.h"
#include "census/pending.h"
#include "census/sites.h"
#include "events/rings.h"

struct stacks {
    struct rings rings;
    struct sites *sites; /* NULL: no stacks are taken */
};

/* Opens rings for stacks and for what becomes of address spaces, stopped. 0, or -errno with the reason. */
int stacks_open(struct stacks *stacks, struct sites *sites, size_t ring_bytes, struct reason *reason);

/* Moves what is in the rings to `pending`. */
void stacks_read(struct stacks *stacks, struct pending *pending);

/* Takes the next event where it is one of a stack or an address space: the family hears of the site. `*taken`
 * says whether it was. 0 or -ENOMEM. */
int stacks_take(struct stacks *stacks, struct family *family, const struct census_event *event, bool *taken);

void stacks_close(struct stacks *stacks);

#endif
