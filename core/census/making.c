#include <string.h>

#include "base/clone.h"
#include "census/members.h"

bool census_makes_task(const struct census_event *event) {
    return event->kind == CENSUS_NEW_TASK ||
           (event->kind == CENSUS_CALL && census_call_kind(event->number) == CENSUS_CALL_MAKES_TASK);
}

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

void making_end(struct family *family, struct member *member, uint64_t now_ns) {
    if (member->call_at_ns == 0) {
        return;
    }
    uint32_t made = member->made;
    member->call_at_ns = 0;
    member->call_number = CENSUS_UNKNOWN;
    member->site = CENSUS_UNKNOWN;
    member->made = NOBODY;
    members_busy(family, member, false, now_ns);
    if (made != NOBODY) {
        struct member *child = &family->members[made];
        child->ready_ns = child->ready_ns != 0 ? child->ready_ns : now_ns;
        child->in_making = false;
        members_settle(family, made);
    }
}

void making_unreturned(struct family *family, struct member *member, uint64_t now_ns) {
    bool executed =
        census_call_kind(member->call_number) == CENSUS_CALL_EXECS && member->image_ns >= member->call_at_ns;
    making_end(family, member, executed ? member->image_ns : now_ns);
}

void making_enter(struct family *family, struct member *member, const struct census_event *event) {
    if (census_call_kind(event->number) == CENSUS_CALL_OTHER) {
        return;
    }
    /* The return from the last one was not seen. */
    int32_t site = member->site;
    making_unreturned(family, member, event->time_ns);
    member->site = census_call_kind(event->number) == CENSUS_CALL_MAKES_TASK ? site : CENSUS_UNKNOWN;
    members_busy(family, member, true, event->time_ns);
    if (census_call_kind(event->number) == CENSUS_CALL_MAKES_TASK) {
        member->previous_ns = member->last_ns;
        member->last_ns = members_since(family, event->time_ns);
    }
    member->call_at_ns = event->time_ns;
    member->call_number = event->number;
    member->asked = event->asked;
    member->made = NOBODY;
}

/* The creator of a member can go on. */
static void ready(struct family *family, struct member *creator, struct member *made, uint64_t now_ns) {
    if (made->ready_ns == 0) {
        made->ready_ns = now_ns;
        made->task.making_ns = (int64_t)(now_ns - creator->call_at_ns);
        members_busy(family, creator, false, now_ns);
    }
}

void making_lets_go(struct family *family, uint32_t place, uint64_t now_ns) {
    struct member *made = &family->members[place];
    if (made->in_making && (made->task.flags & TASK_VFORK) != 0) {
        ready(family, &family->members[made->maker], made, now_ns);
    }
}

void making_wakes(struct family *family, uint32_t place, const struct census_event *event) {
    const struct member *made = &family->members[place];
    /* Of all that a task makes runnable only its own creator, which waits for it. */
    if (made->in_making && family->members[made->maker].task.tid == event->number) {
        making_lets_go(family, place, event->time_ns);
    }
}

/* The creator comes out of its call. */
static void creator_returns(struct family *family, struct member *creator, const struct census_event *event) {
    if (event->result < 0) {
        int64_t error = -event->result;
        family->totals.failed[error < CENSUS_MOST_ERRNO ? error : 0]++;
    }
    if (creator->made == NOBODY) {
        return;
    }
    struct member *made = &family->members[creator->made];
    made->task.call_ns = (int64_t)(event->time_ns - creator->call_at_ns);
    if ((made->task.flags & TASK_VFORK) != 0 && made->ready_ns != 0) {
        made->task.cpu_wait_ns = (int64_t)(event->time_ns - made->ready_ns);
    }
    ready(family, creator, made, event->time_ns);
}

static void exec_returns(struct member *member, const struct census_event *event) {
    if (event->result != 0) {
        member->task.failed_execs++;
        return;
    }
    int64_t took_ns = (int64_t)(event->time_ns - member->call_at_ns);
    int64_t beyond_ns = took_ns;
    if (member->ready_ns > member->call_at_ns) {
        beyond_ns = (int64_t)(event->time_ns - member->ready_ns);
    } else if (member->in_making && member->ready_ns == 0) {
        beyond_ns = 0;
    }
    member->task.exec_ns = (member->task.exec_ns == CENSUS_UNKNOWN ? 0 : member->task.exec_ns) + took_ns;
    member->exec_beyond_ns += beyond_ns;
}

void making_return(struct family *family, struct member *member, const struct census_event *event) {
    enum census_call kind = census_call_kind(event->number);
    if (kind == CENSUS_CALL_MAKES_TASK && member->call_at_ns == 0 && event->result == 0) {
        /* The new task itself comes out of the call that made it. */
        if (member->task.runs_ns == CENSUS_UNKNOWN && member->made_ns != 0) {
            member->task.runs_ns = members_since(family, event->time_ns) - member->task.start_ns;
        }
        return;
    }
    if (member->call_at_ns == 0 || member->call_number != event->number) {
        return;
    }
    if (kind == CENSUS_CALL_MAKES_TASK) {
        creator_returns(family, member, event);
    } else if (kind == CENSUS_CALL_EXECS) {
        exec_returns(member, event);
    }
    making_end(family, member, event->time_ns);
}

int making_new(struct family *family, uint32_t creator, const struct census_event *event) {
    uint32_t place = members_add(family, (int32_t)event->number);
    if (place == NOBODY) {
        return -1;
    }
    struct member *maker = &family->members[creator];
    struct member *made = &family->members[place];
    if (census_call_kind(maker->call_number) != CENSUS_CALL_MAKES_TASK) {
        /* Of an exec whose return was not seen, as that of a 32-bit program. */
        making_unreturned(family, maker, event->time_ns);
    }
    bool in_call = maker->call_at_ns != 0;
    family->totals.created++;
    /* Where the creator has the kernel's number here as well, so has what it makes, unless it makes a
     * namespace. */
    made->local_tid =
        maker->local_tid == maker->task.tid && (event->flags & TASK_NEWPID) == 0 ? (int32_t)event->number : 0;
    made->made_ns = event->time_ns;
    made->in_making = in_call;
    made->maker = creator;
    maker->made = in_call ? place : NOBODY;
    made->task.creator = maker->task.tid;
    made->task.creator_process = maker->process;
    made->task.call_number = in_call ? maker->call_number : event->result;
    made->task.asked = in_call ? maker->asked : event->asked;
    made->task.flags = event->flags;
    if (!in_call) {
        maker->previous_ns = maker->last_ns;
        maker->last_ns = members_since(family, event->time_ns);
    }
    made->task.previous_ns = maker->previous_ns;
    made->task.start_ns = members_since(family, in_call ? maker->call_at_ns : event->time_ns);
    made->task.made_ns = members_since(family, event->time_ns);
    made->task.site = maker->site;
    made->task.cgroup = maker->cgroup;
    made->cgroup = maker->cgroup;
    made->process = (event->flags & TASK_THREAD) == 0 ? (int32_t)event->number : maker->process;
    made->by_unseen_call = !in_call && event->result == CENSUS_UNKNOWN;
    family->totals.siteless += maker->site == CENSUS_UNKNOWN && !made->by_unseen_call;
    family->totals.callless += maker->site == CENSUS_UNKNOWN && made->by_unseen_call;
    memcpy(made->task.creator_program, maker->task.program, CENSUS_PATH_BYTES);
    memcpy(made->task.program, maker->task.program, CENSUS_PATH_BYTES);
    return 0;
}
