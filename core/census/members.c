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
                                                          .cpu_ns = CENSUS_UNKNOWN,
                                                          .minor_faults = CENSUS_UNKNOWN,
                                                          .major_faults = CENSUS_UNKNOWN,
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
    if (!member->left || member->in_making || member->left_ns != 0) {
        return;
    }
    if (member->made_ns != 0) {
        members_tell(family, member);
    }
    member->in_use = false;
    member->next_free = family->free;
    family->free = place;
}

static void wait_no_more(struct family *family, uint32_t place) {
    struct member *member = &family->members[place];
    family->by_left[member->task.tid] = NOBODY;
    member->left_ns = 0;
    members_settle(family, place);
}

void members_note_usage(struct member *member, const struct census_event *used) {
    member->task.cpu_ns = used->number;
    member->task.minor_faults = used->result;
    member->task.major_faults = (int64_t)used->flags;
}

void members_take_usage(struct family *family, const struct census_event *event) {
    bool known = members_can_be(event->task);
    uint32_t left = known && family->by_left != NULL ? family->by_left[event->task] : NOBODY;
    uint32_t place = left != NOBODY ? left : known ? family->by_task[event->task] : NOBODY;
    if (place == NOBODY) {
        return;
    }
    members_note_usage(&family->members[place], event);
    if (left != NOBODY) {
        wait_no_more(family, left);
    }
}

/* Those whose usage found no room among the notes: to tear down even a very large memory takes less. */
static void look_who_waits_in_vain(struct family *family, uint64_t now_ns) {
    static const uint64_t MOST_NS = 2000000000;
    if (now_ns - family->looked_ns < MOST_NS) {
        return;
    }
    family->looked_ns = now_ns;
    for (uint32_t place = 1; place < family->count; place++) {
        const struct member *member = &family->members[place];
        if (member->in_use && member->left_ns != 0 && now_ns - member->left_ns > MOST_NS) {
            wait_no_more(family, place);
        }
    }
}

void members_await_usage(struct family *family, uint32_t place, uint64_t now_ns) {
    struct member *member = &family->members[place];
    if (family->by_left == NULL || member->made_ns == 0 || member->task.minor_faults != CENSUS_UNKNOWN) {
        return;
    }
    look_who_waits_in_vain(family, now_ns);
    uint32_t former = family->by_left[member->task.tid];
    if (former != NOBODY) {
        wait_no_more(family, former);
    }
    member->left_ns = now_ns;
    family->by_left[member->task.tid] = place;
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
