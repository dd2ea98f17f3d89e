/* A program and all tasks that it makes, from the kernel's events in the order of time: pure.
 *
 * A task is told once, when it has left and the call that made it has returned; those that still run are told
 * at the end. Memory grows with the tasks that live at once, not with those that have lived.
 *
 * A creator that asks with CLONE_VFORK sleeps until its child has let the memory go that both have, which a
 * child does in the middle of execve, or as it leaves (mm_release in the kernel's sources). The making ends
 * there: the creator is ready, but it may wait for a CPU, and its call returns only later. */
#ifndef CLONOMETER_CENSUS_FAMILY_H
#define CLONOMETER_CENSUS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "census/preparing.h"

enum { CENSUS_PATH_BYTES = 256, CENSUS_MOST_ERRNO = 134 };

enum census_kind {
    CENSUS_CALL,     /* number: of the system call that a task enters; exit_signal and own_stack of clone */
    CENSUS_RETURN,   /* number, result */
    CENSUS_NEW_TASK, /* number: the new task; flags of clone; result: the call, or -1 where CENSUS_CALL told
                        it, as it did exit_signal and own_stack */
    CENSUS_WAKE,     /* number: the task that the task makes runnable */
    CENSUS_EXEC,     /* number: which the task had before; path */
    CENSUS_EXIT,
    CENSUS_SITE, /* result: the place in its program of the call that comes next and makes a task (sites.h) */
    CENSUS_DID,  /* number: the kind of call that a task has entered before its exec (preparing.h) */
    CENSUS_PREPARED, /* it begins its program, or leaves; number: descriptors that it has closed; result:
                        signal handlers that it has set; flags: 1 where it did more than was told */
    CENSUS_USED,     /* number: CPU time; result: minor, flags: major faults; as it ends, or just after */
    /* Of stacks and address spaces (stacks.h), which the family does not take. */
    CENSUS_STACK,  /* more: a stack_copy, of a call that will make a task */
    CENSUS_MAPPED, /* more: what is mapped */
    CENSUS_IMAGE,
    CENSUS_FORKED, /* number: the new process; result: its parent; as our pid namespace numbers them */
    CENSUS_LEFT,   /* number: the process; result: the task */
    CENSUS_MOVED,  /* number: the task that is moved; result: the hierarchy; more: its new control group */
};

enum { CENSUS_UNKNOWN = -1 };

/* What of a call's arguments tells who made it, beside the flags: C libraries give what they spawn a stack of
 * its own. Each CENSUS_UNKNOWN where it was not seen, as that of clone3, which is behind a pointer. */
struct census_asked {
    int32_t exit_signal;
    int32_t own_stack; /* 1 or 0 */
};

/* As the kernel numbers tasks, whatever this pid namespace says. */
struct census_event {
    uint64_t time_ns;
    int32_t task;
    int32_t local_tid; /* as our namespace numbers it; 0: it does not, or that is not told */
    int32_t process;   /* the same of its process; only of stacks and address spaces */
    int32_t kind;
    struct census_asked asked;
    int64_t number;
    int64_t result;
    uint64_t flags;
    void *more;       /* NULL, or of malloc: whoever keeps the event frees it (pending.h) */
    const char *path; /* of CENSUS_EXEC */
};

/* What a task did between its making and its first exec, or its leaving. */
struct census_did {
    uint16_t times[PREPARING_MOST_CALLS]; /* by kind of call */
    int64_t closes;
    int64_t handlers;
    bool known; /* whether it was looked at */
    bool cut;   /* it did more than was told */
};

/* A time is CENSUS_UNKNOWN where it was not seen. */
struct census_task {
    int32_t tid;
    int32_t creator;         /* 0: the program itself, or a task that it had already */
    int32_t creator_process; /* the number of the creator's first thread; 0: not known */
    int64_t call_number;     /* of the system call that made it */
    uint64_t flags;
    struct census_asked asked;
    int64_t previous_ns; /* when the creator entered the call before that which makes tasks */
    int64_t start_ns;    /* when that call was entered; times since the beginning */
    int64_t made_ns;     /* when it was there */
    int64_t exec_at_ns;  /* when it began its first program; also since the beginning */
    int64_t call_ns;     /* until it returned to the creator */
    int64_t making_ns;   /* until the creator could go on: it returned, or was ready to */
    int64_t cpu_wait_ns; /* from there until it returned, of a creator that had to be woken */
    int64_t runs_ns;     /* from the same entry until the new task went on to user code */
    int64_t exec_ns;     /* its successful calls of exec together */
    int64_t cost_ns;     /* its making and these calls, what they have in common once */
    int64_t life_ns;     /* from its making to its leaving; unknown while it runs */
    int64_t cpu_ns;      /* what it used itself until its end, or so far; user and system */
    int64_t minor_faults;
    int64_t major_faults;
    int32_t execs;
    int32_t failed_execs;
    int32_t site;   /* where it was made; below zero: not known */
    int32_t cgroup; /* of the creator as it made this (cgroups.h); CENSUS_UNKNOWN where none is asked for */
    bool alive;
    struct census_did did;
    char helper[CENSUS_PATH_BYTES];          /* what it ran before that, of several programs; "" */
    char creator_program[CENSUS_PATH_BYTES]; /* what the creator ran when it made this; "" unknown */
    char program[CENSUS_PATH_BYTES];         /* what it ran last */
};

struct census_totals {
    uint64_t created;
    uint64_t siteless; /* tasks of which no stack was seen as they were made */
    uint64_t callless; /* nor the call that made them: tracepoints do not tell calls of 32-bit programs */
    uint64_t unseen;   /* tasks that left without being known, and events of no use */
    int64_t busy_ns;   /* while at least one task of the program made a task, or began a program */
    int64_t last_ns;
    uint64_t failed[CENSUS_MOST_ERRNO]; /* calls that made no task, by errno */
};

typedef void census_tell(void *context, const struct census_task *task);

struct family;

/* `tell` gets each task. NULL without memory. */
struct family *family_new(uint64_t begin_ns, census_tell *tell, void *context);

/* What tasks used will be told, after each has left: it is waited for, before a task is told. */
void family_expect_usage(struct family *family);

/* A task that belongs to it from the beginning, what it runs; nothing where it is known. 0 or -ENOMEM. */
int family_adopt(struct family *family, int32_t task, const char *program);
bool family_has(const struct family *family, int32_t task);

/* In which control group a member is; it alone, whose process may be unknown (0), or with all threads of its
 * process that are members. What it makes from here on is there as well; of one that is outside
 * (CGROUP_OUTSIDE) no creation counts. */
void family_place(struct family *family, int32_t task, int32_t process, int32_t cgroup);
void family_move(struct family *family, int32_t task, int32_t cgroup);

/* Takes the next event; those of strangers change nothing. 0 or -ENOMEM. */
int family_take(struct family *family, const struct census_event *event);

/* How many tasks have not left. */
uint64_t family_alive(const struct family *family);

/* Gives the local number of each process that has not left, where it is known; and a time at which it was
 * there: whoever has its number now and began later is another. */
typedef void census_meet(void *context, pid_t process, uint64_t known_ns);
void family_living(struct family *family, census_meet *meet, void *context);

/* Lets those leave of whom `is_there` says no, though their end was not seen; of those whose local number is
 * known. It gets what census_meet gets. */
typedef bool census_there(void *context, pid_t task, uint64_t known_ns);
void family_miss(struct family *family, uint64_t now_ns, census_there *is_there, void *context);

/* Asks what each task has used so far that still runs and whose local number is known. `ask` gets the number,
 * fills what CENSUS_USED tells, and says whether it could. */
typedef bool census_ask(void *context, pid_t task, struct census_event *used);
void family_ask(struct family *family, census_ask *ask, void *context);

/* Tells those that still run. `totals` gets the rest. */
void family_end(struct family *family, uint64_t end_ns, struct census_totals *totals);

void family_free(struct family *family);

/* What a system call does here. */
enum census_call { CENSUS_CALL_OTHER, CENSUS_CALL_MAKES_TASK, CENSUS_CALL_EXECS };
enum census_call census_call_kind(int64_t number);

/* Whether an event is of a task that makes another. */
bool census_makes_task(const struct census_event *event);

#endif
