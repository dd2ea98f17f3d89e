#include "census/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clone.h"
#include "census/cgroups.h"
#include "census/members.h"
#include "census/names.h"

enum { FIRST_ROOM = 256 };

struct family *family_new(uint64_t begin_ns, census_tell *tell, void *context) {
    struct family *family = calloc(1, sizeof *family);
    if (family == NULL) {
        return NULL;
    }
    *family = (struct family){.begin_ns = begin_ns, .tell = tell, .context = context, .count = 1};
    /* Untouched, it takes no memory. */
    family->by_task = calloc(MOST_TASKS, sizeof *family->by_task);
    family->members = calloc(FIRST_ROOM, sizeof *family->members);
    family->room = FIRST_ROOM;
    if (family->by_task == NULL || family->members == NULL) {
        family_free(family);
        return NULL;
    }
    return family;
}

void family_free(struct family *family) {
    if (family != NULL) {
        free(family->by_task);
        free(family->by_left);
        free(family->members);
        free(family);
    }
}

void family_expect_usage(struct family *family) {
    /* Untouched, it takes no memory. Without any, what tasks used is not told. */
    family->by_left = calloc(MOST_TASKS, sizeof *family->by_left);
}

bool family_has(const struct family *family, int32_t task) {
    return members_can_be(task) && family->by_task[task] != NOBODY;
}

int family_adopt(struct family *family, int32_t task, const char *program) {
    if (!members_can_be(task) || family_has(family, task)) {
        return 0;
    }
    uint32_t place = members_add(family, task);
    if (place == NOBODY) {
        return -ENOMEM;
    }
    strncpy(family->members[place].task.program, program, CENSUS_PATH_BYTES - 1);
    return 0;
}

void family_place(struct family *family, int32_t task, int32_t process, int32_t cgroup) {
    if (family_has(family, task)) {
        struct member *member = &family->members[family->by_task[task]];
        member->process = process > 0 ? process : member->process;
        member->cgroup = cgroup;
    }
}

void family_move(struct family *family, int32_t task, int32_t cgroup) {
    for (uint32_t place = 1; place < family->count; place++) {
        struct member *member = &family->members[place];
        if (member->in_use && (member->task.tid == task || member->process == task)) {
            member->cgroup = cgroup;
        }
    }
}

static void forget(struct family *family, uint32_t place, uint64_t now_ns) {
    struct member *member = &family->members[place];
    making_unreturned(family, member, now_ns);
    family->by_task[member->task.tid] = NOBODY;
    family->alive--;
    member->left = true;
    member->task.alive = false;
    members_settle(family, place);
}

static void leave(struct family *family, uint32_t place, uint64_t now_ns) {
    struct member *member = &family->members[place];
    making_lets_go(family, place, now_ns);
    member->task.life_ns = member->made_ns != 0 ? (int64_t)(now_ns - member->made_ns) : CENSUS_UNKNOWN;
    members_await_usage(family, place, now_ns);
    forget(family, place, now_ns);
}

/* It has left, though that was not seen; when, is not known. */
static void miss(struct family *family, uint32_t place, uint64_t now_ns) {
    family->totals.unseen++;
    forget(family, place, now_ns);
}

static int new_task(struct family *family, uint32_t creator, const struct census_event *event) {
    if (!members_can_be(event->number)) {
        family->totals.unseen++;
        return 0;
    }
    uint32_t former = family->by_task[event->number];
    if (former != NOBODY) {
        miss(family, former, event->time_ns);
        if (former == creator) {
            return 0;
        }
    }
    return making_new(family, creator, event) == 0 ? 0 : -ENOMEM;
}

/* A thread that execs gets the number of its process, whose first thread has left by then. */
static void renumber(struct family *family, const struct census_event *event) {
    uint32_t place = family->by_task[event->number];
    family->by_task[event->number] = NOBODY;
    family->by_task[event->task] = place;
    family->members[place].task.tid = event->task;
}

static void prepare(struct member *member, const struct census_event *event) {
    struct census_did *did = &member->task.did;
    if (event->kind == CENSUS_DID) {
        did->times[event->number]++; /* of at most PREPARING_MOST_NOTES */
        return;
    }
    did->known = !member->by_unseen_call;
    did->closes = event->number;
    did->handlers = event->result;
    did->cut = event->flags != 0;
}

int family_take(struct family *family, const struct census_event *event) {
    family->totals.last_ns = members_since(family, event->time_ns);
    if (event->kind == CENSUS_USED) {
        members_take_usage(family, event);
        return 0;
    }
    if (event->kind == CENSUS_EXEC && members_can_be(event->task) && event->number != event->task &&
        members_can_be(event->number) && family_has(family, (int32_t)event->number) &&
        !family_has(family, event->task)) {
        renumber(family, event);
    }
    if (!family_has(family, event->task)) {
        return 0;
    }
    uint32_t place = family->by_task[event->task];
    struct member *member = &family->members[place];
    member->local_tid = event->local_tid > 0 ? event->local_tid : member->local_tid;
    if (member->cgroup == CGROUP_OUTSIDE && census_makes_task(event)) {
        return 0;
    }
    switch (event->kind) {
    case CENSUS_CALL:
        making_enter(family, member, event);
        break;
    case CENSUS_RETURN:
        making_return(family, member, event);
        break;
    case CENSUS_NEW_TASK:
        return new_task(family, place, event);
    case CENSUS_SITE:
        member->site = (int32_t)event->result;
        break;
    case CENSUS_WAKE:
        making_wakes(family, place, event);
        break;
    case CENSUS_EXEC:
        making_lets_go(family, place, event->time_ns);
        member->image_ns = event->time_ns;
        if (member->task.execs == 0) {
            member->task.exec_at_ns = members_since(family, event->time_ns);
        }
        if (member->task.execs++ > 0) {
            memcpy(member->task.helper, member->task.program, CENSUS_PATH_BYTES);
        }
        name_copy(member->task.program, CENSUS_PATH_BYTES, event->path, strlen(event->path));
        break;
    case CENSUS_DID:
    case CENSUS_PREPARED:
        prepare(member, event);
        break;
    case CENSUS_EXIT:
        leave(family, place, event->time_ns);
        break;
    default:
        break;
    }
    return 0;
}

uint64_t family_alive(const struct family *family) {
    return family->alive;
}

/* Those that were there before began before. */
static uint64_t known_at(const struct family *family, const struct member *member) {
    return member->made_ns != 0 ? member->made_ns : family->begin_ns;
}

void family_living(struct family *family, census_meet *meet, void *context) {
    for (uint32_t place = 1; place < family->count; place++) {
        const struct member *member = &family->members[place];
        if (member->in_use && !member->left && member->local_tid > 0 &&
            (member->task.flags & TASK_THREAD) == 0) {
            meet(context, member->local_tid, known_at(family, member));
        }
    }
}

void family_miss(struct family *family, uint64_t now_ns, census_there *is_there, void *context) {
    for (uint32_t place = 1; place < family->count; place++) {
        const struct member *member = &family->members[place];
        if (member->in_use && !member->left && member->local_tid > 0 &&
            !is_there(context, member->local_tid, known_at(family, member))) {
            miss(family, place, now_ns);
        }
    }
}

void family_ask(struct family *family, census_ask *ask, void *context) {
    for (uint32_t place = 1; place < family->count; place++) {
        struct member *member = &family->members[place];
        struct census_event used;
        if (member->in_use && !member->left && member->made_ns != 0 && member->local_tid > 0 &&
            ask(context, member->local_tid, &used)) {
            members_note_usage(member, &used);
        }
    }
}

void family_end(struct family *family, uint64_t end_ns, struct census_totals *totals) {
    if (family->busy > 0) {
        family->busy = 0;
        family->totals.busy_ns += (int64_t)(end_ns - family->busy_since_ns);
    }
    for (uint32_t place = 1; place < family->count; place++) {
        struct member *member = &family->members[place];
        if (member->in_use && member->made_ns != 0) {
            members_tell(family, member);
        }
        member->in_use = false;
    }
    *totals = family->totals;
    totals->last_ns = members_since(family, end_ns);
}
