/* A program and all tasks that it makes, from the kernel's events in the order of time: pure.
 *
 * A task is told once, when it has left and the call that made it has returned; those that still run are told
 * at the end. Memory grows with the tasks that live at once, not with those that have lived. */
#ifndef CLONOMETER_CENSUS_FAMILY_H
#define CLONOMETER_CENSUS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CENSUS_PATH_BYTES = 256, CENSUS_MOST_ERRNO = 134 };

enum census_kind {
    CENSUS_CALL,     /* number: of the system call that a task enters */
    CENSUS_RETURN,   /* number, result */
    CENSUS_NEW_TASK, /* number: the new task; flags of clone; result: the call, or -1 where CENSUS_CALL told
                        it */
    CENSUS_EXEC,     /* number: which the task had before; path */
    CENSUS_EXIT,
};

/* As the kernel numbers tasks, whatever this pid namespace says. */
struct census_event {
    uint64_t time_ns;
    int32_t task;
    int32_t here; /* as our namespace numbers it; 0: it does not, or that is not told */
    int32_t kind;
    int64_t number;
    int64_t result;
    uint64_t flags;
    char path[CENSUS_PATH_BYTES]; /* of CENSUS_EXEC; ends with NUL */
};

enum { CENSUS_UNKNOWN = -1 };

struct census_task {
    int32_t tid;
    int32_t creator;     /* 0: the program itself, or a task that it had already */
    int64_t call_number; /* of the system call that made it; -1: not seen */
    uint64_t flags;
    int64_t start_ns; /* when that call was entered; times since the beginning */
    int64_t call_ns;  /* until it returned to the creator; -1: not seen */
    int64_t runs_ns;  /* until the new task went on to user code; -1: not seen */
    int64_t exec_ns;  /* its successful calls of exec together */
    int64_t life_ns;  /* from its making to its leaving; -1: it still runs */
    int32_t execs;
    int32_t failed_execs;
    bool alive;
    char creator_program[CENSUS_PATH_BYTES]; /* what the creator ran when it made this; "" unknown */
    char program[CENSUS_PATH_BYTES];         /* what it ran last */
};

struct census_totals {
    uint64_t created;
    uint64_t unseen; /* tasks that left without being known, and events of no use */
    int64_t
        busy_ns; /* while at least one task of the program was inside a call that makes tasks or programs */
    int64_t last_ns;
    uint64_t failed[CENSUS_MOST_ERRNO]; /* calls that made no task, by errno */
};

typedef void census_tell(void *context, const struct census_task *task);

struct family;

/* `tell` gets each task. NULL without memory. */
struct family *family_new(uint64_t begin_ns, census_tell *tell, void *context);

/* A task that belongs to it from the beginning, what it runs; nothing where it is known. 0 or -ENOMEM. */
int family_adopt(struct family *family, int32_t task, const char *program);
bool family_has(const struct family *family, int32_t task);

/* Takes the next event; those of strangers change nothing. 0 or -ENOMEM. */
int family_take(struct family *family, const struct census_event *event);

/* Gives the number here of each process that has not left, where it is known; and whether for the first time.
 */
typedef void census_meet(void *context, pid_t process, bool first);
void family_living(struct family *family, census_meet *meet, void *context);

/* Tells those that still run. `totals` gets the rest. */
void family_end(struct family *family, uint64_t end_ns, struct census_totals *totals);

void family_free(struct family *family);

/* What a system call does here. */
enum census_call { CENSUS_CALL_OTHER, CENSUS_CALL_MAKES_TASK, CENSUS_CALL_EXECS };
enum census_call census_call_kind(int64_t number);

#endif
