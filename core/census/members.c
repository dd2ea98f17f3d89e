#include "census/members.h"

#include <stdlib.h>

#include "census/cgroups.h"

/* A member's place, or NOBODY without memory. */
static uint32_t take_place(struct family *family) {
    uint32_t place = family->free;
    if (place != NOBODY) {
        family->free = family->members[place].next_free;
        return place;
    }
    if (family->count == family->room) {
        struct member *more = realloc(family->members, 2 * (size_t)family->room * sizeof *more);
        if (more == NULL) {
            return NOBODY;
        }
        family->members = more;
        family->room *= 2;
    }
    return family->count++;
}

uint32_t members_add(struct family *family, int32_t task) {
    uint32_t place = take_place(family);
    if (place != NOBODY) {
        const struct census_asked unknown = {.exit_signal = CENSUS_UNKNOWN, .own_stack = CENSUS_UNKNOWN};
        family->members[place] = (struct member){.in_use = true,
                                                 .call_number = CENSUS_UNKNOWN,
                                                 .asked = unknown,
                                                 .last_ns = CENSUS_UNKNOWN,
                                                 .previous_ns = CENSUS_UNKNOWN,
                                                 .site = CENSUS_UNKNOWN,
                                                 .cgroup = CGROUP_UNKNOWN,
                                                 .task = {.tid = task,
                                                          .asked = unknown,
                                                          .call_number = CENSUS_UNKNOWN,
                                                          .previous_ns = CENSUS_UNKNOWN,
                                                          .made_ns = CENSUS_UNKNOWN,
                                                          .exec_at_ns = CENSUS_UNKNOWN,
                                                          .call_ns = CENSUS_UNKNOWN,
                                                          .making_ns = CENSUS_UNKNOWN,
                                                          .cpu_wait_ns = CENSUS_UNKNOWN,
                                                          .runs_ns = CENSUS_UNKNOWN,
                                                          .exec_ns = CENSUS_UNKNOWN,
                                                          .cost_ns = CENSUS_UNKNOWN,
                                                          .life_ns = CENSUS_UNKNOWN,
                                                          .site = CENSUS_UNKNOWN,
                                                          .cgroup = CGROUP_UNKNOWN,
                                                          .alive = true}};
        family->by_task[task] = place;
        family->alive++;
    }
    return place;
}

void members_tell(const struct family *family, struct member *member) {
    struct census_task *task = &member->task;
    if (task->making_ns != CENSUS_UNKNOWN) {
        task->cost_ns = task->making_ns + member->exec_beyond_ns;
    } else {
        task->cost_ns = task->exec_ns;
    }
    family->tell(family->context, task);
}

void members_settle(struct family *family, uint32_t place) {
    struct member *member = &family->members[place];
    if (!member->left || member->in_making) {
        return;
    }
    if (member->made_ns != 0) {
        members_tell(family, member);
    }
    member->in_use = false;
    member->next_free = family->free;
    family->free = place;
}

void members_busy(struct family *family, struct member *member, bool busy, uint64_t now_ns) {
    if (member->busy == busy) {
        return;
    }
    member->busy = busy;
    if (busy && family->busy++ == 0) {
        family->busy_since_ns = now_ns;
    }
    if (!busy && --family->busy == 0) {
        family->totals.busy_ns += (int64_t)(now_ns - family->busy_since_ns);
    }
}
