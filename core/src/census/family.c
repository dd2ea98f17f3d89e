#include "census/family.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sys/clone.h"

enum { MOST_TASKS = 1 << 22 /* PID_MAX_LIMIT */, FIRST_ROOM = 256, NOBODY = 0 };

struct member {
    struct census_task task;
    uint64_t made_ns;    /* 0: it was there from the beginning */
    uint64_t call_at_ns; /* of the call that it is in; 0: in none that matters */
    int64_t call_number;
    int32_t here;       /* its number in our namespace; 0: not known */
    uint32_t made;      /* the member that this call made */
    uint32_t next_free; /* of a member that is free */
    bool in_use;
    bool left;
    bool met;       /* by family_living */
    bool in_making; /* the call that made it has not returned */
};

struct family {
    uint64_t begin_ns;
    census_tell *tell;
    void *context;
    uint32_t *by_task; /* index into members; 0: a stranger */
    struct member *members;
    uint32_t count; /* members[0] is nobody */
    uint32_t room;
    uint32_t free;
    uint32_t busy; /* tasks inside a call that makes tasks or programs */
    uint64_t busy_since_ns;
    struct census_totals totals;
};

enum census_call census_call_kind(int64_t number) {
    switch (number) {
    case SYS_clone:
    case SYS_clone3:
#ifdef SYS_fork
    case SYS_fork:
    case SYS_vfork:
#endif
        return CENSUS_CALL_MAKES_TASK;
    case SYS_execve:
    case SYS_execveat:
        return CENSUS_CALL_EXECS;
    default:
        return CENSUS_CALL_OTHER;
    }
}

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
        free(family->members);
        free(family);
    }
}

static bool can_be(int64_t task) {
    return task > 0 && task < MOST_TASKS;
}

bool family_has(const struct family *family, int32_t task) {
    return can_be(task) && family->by_task[task] != NOBODY;
}

static int64_t since(const struct family *family, uint64_t time_ns) {
    return (int64_t)(time_ns - family->begin_ns);
}

/* A member's place, or 0 without memory. */
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

static uint32_t add_member(struct family *family, int32_t task) {
    uint32_t place = take_place(family);
    if (place != NOBODY) {
        family->members[place] = (struct member){.in_use = true,
                                                 .call_number = CENSUS_UNKNOWN,
                                                 .task = {.tid = task,
                                                          .call_number = CENSUS_UNKNOWN,
                                                          .call_ns = CENSUS_UNKNOWN,
                                                          .runs_ns = CENSUS_UNKNOWN,
                                                          .life_ns = CENSUS_UNKNOWN,
                                                          .alive = true}};
        family->by_task[task] = place;
    }
    return place;
}

int family_adopt(struct family *family, int32_t task, const char *program) {
    if (!can_be(task) || family_has(family, task)) {
        return 0;
    }
    uint32_t place = add_member(family, task);
    if (place == NOBODY) {
        return -ENOMEM;
    }
    strncpy(family->members[place].task.program, program, CENSUS_PATH_BYTES - 1);
    return 0;
}

/* Tells of a member that has left and whose making is over, and forgets it. */
static void settle(struct family *family, uint32_t place) {
    struct member *member = &family->members[place];
    if (!member->left || member->in_making) {
        return;
    }
    if (member->made_ns != 0) {
        family->tell(family->context, &member->task);
    }
    member->in_use = false;
    member->next_free = family->free;
    family->free = place;
}

static void busy_more(struct family *family, uint64_t now_ns) {
    if (family->busy++ == 0) {
        family->busy_since_ns = now_ns;
    }
}

static void busy_less(struct family *family, uint64_t now_ns) {
    if (--family->busy == 0) {
        family->totals.busy_ns += (int64_t)(now_ns - family->busy_since_ns);
    }
}

static void enter_call(struct family *family, struct member *member, const struct census_event *event) {
    if (census_call_kind(event->number) == CENSUS_CALL_OTHER) {
        return;
    }
    if (member->call_at_ns == 0) {
        busy_more(family, event->time_ns);
    }
    member->call_at_ns = event->time_ns;
    member->call_number = event->number;
    member->made = NOBODY;
}

static void end_call(struct family *family, struct member *member, uint64_t now_ns) {
    if (member->call_at_ns == 0) {
        return;
    }
    uint32_t made = member->made;
    member->call_at_ns = 0;
    member->call_number = CENSUS_UNKNOWN;
    member->made = NOBODY;
    busy_less(family, now_ns);
    if (made != NOBODY) {
        family->members[made].in_making = false;
        settle(family, made);
    }
}

static void return_from_call(struct family *family, struct member *member, const struct census_event *event) {
    enum census_call kind = census_call_kind(event->number);
    if (kind == CENSUS_CALL_MAKES_TASK && member->call_at_ns == 0 && event->result == 0) {
        /* The new task itself comes out of the call that made it. */
        if (member->task.runs_ns == CENSUS_UNKNOWN && member->made_ns != 0) {
            member->task.runs_ns = since(family, event->time_ns) - member->task.start_ns;
        }
        return;
    }
    if (member->call_at_ns == 0 || member->call_number != event->number) {
        return;
    }
    int64_t took_ns = (int64_t)(event->time_ns - member->call_at_ns);
    if (kind == CENSUS_CALL_MAKES_TASK && member->made != NOBODY) {
        family->members[member->made].task.call_ns = took_ns;
    }
    if (kind == CENSUS_CALL_MAKES_TASK && event->result < 0) {
        int64_t error = -event->result;
        family->totals.failed[error < CENSUS_MOST_ERRNO ? error : 0]++;
    }
    if (kind == CENSUS_CALL_EXECS) {
        member->task.exec_ns += event->result == 0 ? took_ns : 0;
        member->task.failed_execs += event->result != 0;
    }
    end_call(family, member, event->time_ns);
}

static int new_task(struct family *family, uint32_t creator, const struct census_event *event) {
    if (!can_be(event->number)) {
        family->totals.unseen++;
        return 0;
    }
    if (family->by_task[event->number] != NOBODY) {
        /* The former task with this number has left, though that was not seen. */
        struct member *former = &family->members[family->by_task[event->number]];
        family->totals.unseen++;
        former->left = true;
        former->in_making = false;
        settle(family, family->by_task[event->number]);
    }
    uint32_t place = add_member(family, (int32_t)event->number);
    if (place == NOBODY) {
        return -ENOMEM;
    }
    struct member *maker = &family->members[creator];
    struct member *made = &family->members[place];
    bool in_call = maker->call_at_ns != 0;
    family->totals.created++;
    /* Where the creator has the kernel's number here as well, so has what it makes, unless it makes a
     * namespace. */
    made->here =
        maker->here == maker->task.tid && (event->flags & CLONE_NEWPID) == 0 ? (int32_t)event->number : 0;
    made->made_ns = event->time_ns;
    made->in_making = in_call;
    maker->made = in_call ? place : NOBODY;
    made->task.creator = maker->task.tid;
    made->task.call_number = in_call ? maker->call_number : event->result;
    made->task.flags = event->flags;
    made->task.start_ns = since(family, in_call ? maker->call_at_ns : event->time_ns);
    memcpy(made->task.creator_program, maker->task.program, CENSUS_PATH_BYTES);
    memcpy(made->task.program, maker->task.program, CENSUS_PATH_BYTES);
    return 0;
}

static void leave(struct family *family, uint32_t place, uint64_t now_ns) {
    struct member *member = &family->members[place];
    end_call(family, member, now_ns);
    family->by_task[member->task.tid] = NOBODY;
    member->left = true;
    member->task.alive = false;
    member->task.life_ns = member->made_ns != 0 ? (int64_t)(now_ns - member->made_ns) : CENSUS_UNKNOWN;
    settle(family, place);
}

/* A thread that execs gets the number of its process, whose first thread has left by then. */
static void renumber(struct family *family, const struct census_event *event) {
    uint32_t place = family->by_task[event->number];
    family->by_task[event->number] = NOBODY;
    family->by_task[event->task] = place;
    family->members[place].task.tid = event->task;
}

int family_take(struct family *family, const struct census_event *event) {
    family->totals.last_ns = since(family, event->time_ns);
    if (event->kind == CENSUS_EXEC && can_be(event->task) && event->number != event->task &&
        can_be(event->number) && family_has(family, (int32_t)event->number) &&
        !family_has(family, event->task)) {
        renumber(family, event);
    }
    if (!family_has(family, event->task)) {
        return 0;
    }
    uint32_t place = family->by_task[event->task];
    struct member *member = &family->members[place];
    member->here = event->here > 0 ? event->here : member->here;
    switch (event->kind) {
    case CENSUS_CALL:
        enter_call(family, member, event);
        break;
    case CENSUS_RETURN:
        return_from_call(family, member, event);
        break;
    case CENSUS_NEW_TASK:
        return new_task(family, place, event);
    case CENSUS_EXEC:
        memcpy(member->task.program, event->path, CENSUS_PATH_BYTES);
        member->task.execs++;
        break;
    case CENSUS_EXIT:
        leave(family, place, event->time_ns);
        break;
    default:
        break;
    }
    return 0;
}

void family_living(struct family *family, census_meet *meet, void *context) {
    for (uint32_t place = 1; place < family->count; place++) {
        struct member *member = &family->members[place];
        if (member->in_use && !member->left && member->here > 0 && (member->task.flags & CLONE_THREAD) == 0) {
            meet(context, member->here, !member->met);
            member->met = true;
        }
    }
}

void family_end(struct family *family, uint64_t end_ns, struct census_totals *totals) {
    if (family->busy > 0) {
        family->busy = 1;
        busy_less(family, end_ns);
    }
    for (uint32_t place = 1; place < family->count; place++) {
        struct member *member = &family->members[place];
        if (member->in_use && member->made_ns != 0) {
            family->tell(family->context, &member->task);
        }
        member->in_use = false;
    }
    *totals = family->totals;
    totals->last_ns = since(family, end_ns);
}
