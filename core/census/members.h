/* What a family keeps of each task: for family.c, making.c and members.c. */
#ifndef CLONOMETER_CENSUS_MEMBERS_H
#define CLONOMETER_CENSUS_MEMBERS_H

#include "census/family.h"

enum { MOST_TASKS = 1 << 22 /* PID_MAX_LIMIT */, NOBODY = 0 };

struct member {
    struct census_task task;
    uint64_t made_ns;    /* 0: it was there from the beginning */
    uint64_t call_at_ns; /* of the call that it is in; 0: in none that matters */
    int64_t last_ns;     /* when it entered the last call that makes tasks, since the beginning */
    int64_t previous_ns; /* and the one before */
    int64_t call_number; /* of that call */
    struct census_asked asked;
    uint64_t ready_ns;      /* when its creator could go on; 0: that was not seen, or not yet */
    int64_t exec_beyond_ns; /* of its calls of exec, what came after that */
    int32_t local_tid;      /* its number in our namespace; 0: not known */
    int32_t cgroup;         /* in which it is */
    int32_t process;        /* the number of its first thread; 0: not known */
    int32_t site;           /* of the call that makes a task, from just before it until its end */
    uint32_t made;          /* the member that the call it is in has made */
    uint32_t maker;         /* while in_making: the member that is in that call */
    uint32_t next_free;     /* of a member that is free */
    uint64_t image_ns;      /* when it began its program; 0: that was not seen */
    bool by_unseen_call;    /* so what it does itself before its exec may not be seen either */
    bool in_use;
    bool left;
    uint64_t left_ns; /* when it left, while what it used is waited for; else 0 */
    bool busy;        /* it makes a task or begins a program, and so counts in the family's `busy` */
    bool in_making;   /* the call that made it has not returned */
};

struct family {
    uint64_t begin_ns;
    census_tell *tell;
    void *context;
    uint32_t *by_task; /* index into members; 0: a stranger */
    uint32_t
        *by_left; /* the same of those that have left, and whose usage is waited for; NULL: of none is it */
    uint64_t looked_ns; /* when it was looked who waits in vain */
    struct member *members;
    uint32_t count; /* members[0] is nobody */
    uint32_t room;
    uint32_t free;
    uint32_t busy; /* members that make a task or begin a program */
    uint64_t busy_since_ns;
    uint64_t alive;
    struct census_totals totals;
};

static inline int64_t members_since(const struct family *family, uint64_t time_ns) {
    return (int64_t)(time_ns - family->begin_ns);
}

static inline bool members_can_be(int64_t task) {
    return task > 0 && task < MOST_TASKS;
}

/* A new member's place, or NOBODY without memory; other members may have moved then. */
uint32_t members_add(struct family *family, int32_t task);

/* Tells of a member that has left and whose making is over, and forgets it. */
void members_settle(struct family *family, uint32_t place);

void members_tell(const struct family *family, struct member *member);

/* Writes down what a member used. */
void members_note_usage(struct member *member, const struct census_event *used);

/* What a member used, as CENSUS_USED tells; of one that has left, or is about to. */
void members_take_usage(struct family *family, const struct census_event *event);

/* A member has left: what it used comes next, unless it is known. */
void members_await_usage(struct family *family, uint32_t place, uint64_t now_ns);

/* Whether it makes a task, or begins a program. */
void members_busy(struct family *family, struct member *member, bool busy, uint64_t now_ns);

/* The events of a member that make tasks and begin programs (making.c). */
void making_enter(struct family *family, struct member *member, const struct census_event *event);
void making_return(struct family *family, struct member *member, const struct census_event *event);
/* It has made a task. 0 or -ENOMEM. */
int making_new(struct family *family, uint32_t creator, const struct census_event *event);
/* It has made its creator runnable, or has begun a program or left, before which it must have done so. */
void making_lets_go(struct family *family, uint32_t place, uint64_t now_ns);
void making_wakes(struct family *family, uint32_t place, const struct census_event *event);
/* It is in no call any more, though the end of one was not seen: an exec was over when the program began. */
void making_unreturned(struct family *family, struct member *member, uint64_t now_ns);
/* It is in no call any more. */
void making_end(struct family *family, struct member *member, uint64_t now_ns);

#endif
