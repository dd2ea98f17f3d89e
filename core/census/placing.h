/* Whose tasks a census of control groups counts: those that a task makes while it is in one of them. Tasks
 * that were there before are met when they make one; their children are where they are; and the kernel says
 * who is moved. */
#ifndef CLONOMETER_CENSUS_PLACING_H
#define CLONOMETER_CENSUS_PLACING_H

#include "census/cgroups.h"
#include "census/family.h"

typedef void placing_meet(void *context, pid_t task);

struct placing {
    struct cgroups cgroups;
    int32_t *before; /* by our namespace's numbers: the group of a task that was there, + KNOWN_FROM */
    unsigned char *stranger; /* by the kernel's: a task that is in no group that is watched */
    placing_meet *meet;      /* gets each task that is watched, as the kernel numbers it */
    void *context;
    bool same_numbers; /* as the kernel's */
    uint64_t unplaced; /* makers of tasks that had gone before their group could be read */
};

/* 0, -EINVAL with the reason, or -ENOMEM. */
int placing_open(struct placing *placing, const char *text, struct reason *reason);
void placing_close(struct placing *placing);

/* Notes where all tasks are, and gives each that is watched, as later those that come; the kernel's events
 * begin before. */
void placing_begin(struct placing *placing, placing_meet *meet, void *context);

/* Whoever the event is of: adopts a task that is met for the first time. 0 or -ENOMEM. */
int placing_before(struct placing *placing, struct family *family, const struct census_event *event);
/* After the family took it: where a task that was made is. */
void placing_after(struct placing *placing, struct family *family, const struct census_event *event);

#endif
