/* A program's family is followed from events, whatever their order of leaving. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "census/family.h"
#include "check.h"
#include "sys/clone.h"

enum { MOST_TOLD = 16 };

struct told {
    struct census_task tasks[MOST_TOLD];
    int count;
};

static void tell(void *context, const struct census_task *task) {
    struct told *told = context;
    if (told->count < MOST_TOLD) {
        told->tasks[told->count++] = *task;
    }
}

static void happen(struct family *family, uint64_t time_ns, int32_t task, int32_t kind, int64_t number,
                   int64_t result, const char *path) {
    struct census_event event = {
        .time_ns = time_ns, .task = task, .kind = kind, .number = number, .result = result, .flags = TASK_VM};
    strncpy(event.path, path, sizeof event.path - 1);
    CHECK(family_take(family, &event) == 0, "taken");
}

/* A child that begins a program and leaves before the call that made it has returned. */
static void check_child(void) {
    struct told told = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(1000, tell, &told);
    CHECK(family_adopt(family, 10, "/bin/sh") == 0 && family_has(family, 10), "the program itself");
    happen(family, 1100, 10, CENSUS_CALL, SYS_clone, 0, "");
    happen(family, 1150, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    happen(family, 1200, 11, CENSUS_RETURN, SYS_clone, 0, "");
    happen(family, 1300, 11, CENSUS_CALL, SYS_execve, 0, "");
    happen(family, 1350, 11, CENSUS_EXEC, 11, 0, "/bin/ls");
    happen(family, 1400, 11, CENSUS_RETURN, SYS_execve, 0, "");
    happen(family, 1500, 11, CENSUS_EXIT, 0, 0, "");
    CHECK(told.count == 0, "its making is not over");
    happen(family, 1600, 10, CENSUS_RETURN, SYS_clone, 11, "");
    CHECK(told.count == 1, "now it is");
    const struct census_task *task = &told.tasks[0];
    CHECK(task->creator == 10 && task->tid == 11 && task->call_number == SYS_clone, "who");
    CHECK(task->start_ns == 100 && task->call_ns == 500 && task->runs_ns == 100, "the call");
    CHECK(task->exec_ns == 100 && task->execs == 1 && task->failed_execs == 0, "the program");
    CHECK(task->life_ns == 350 && !task->alive, "its life");
    CHECK(strcmp(task->creator_program, "/bin/sh") == 0 && strcmp(task->program, "/bin/ls") == 0, "programs");
    family_end(family, 2000, &totals);
    CHECK(told.count == 1 && totals.created == 1 && totals.busy_ns == 500 && totals.last_ns == 1000,
          "totals");
    family_free(family);
}

static void check_strangers_and_failures(void) {
    struct told told = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &told);
    family_adopt(family, 10, "");
    happen(family, 10, 99, CENSUS_CALL, SYS_clone, 0, "");
    happen(family, 20, 99, CENSUS_NEW_TASK, 100, CENSUS_UNKNOWN, "");
    happen(family, 30, 10, CENSUS_CALL, SYS_clone3, 0, "");
    happen(family, 40, 10, CENSUS_RETURN, SYS_clone3, -EAGAIN, "");
    happen(family, 50, 10, CENSUS_CALL, SYS_execve, 0, "");
    happen(family, 60, 10, CENSUS_RETURN, SYS_execve, -ENOENT, "");
    happen(family, 70, 10, CENSUS_NEW_TASK, 11, SYS_clone, "");
    family_end(family, 100, &totals);
    CHECK(totals.created == 1 && totals.failed[EAGAIN] == 1 && totals.busy_ns == 20, "of strangers nothing");
    CHECK(told.count == 1 && told.tasks[0].alive && told.tasks[0].life_ns == CENSUS_UNKNOWN, "it still runs");
    CHECK(told.tasks[0].call_ns == CENSUS_UNKNOWN && told.tasks[0].call_number == SYS_clone,
          "a call that was not seen");
    family_free(family);
}

/* A number that comes again, and a thread that takes the number of its process by exec. */
static void check_numbers(void) {
    struct told told = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &told);
    family_adopt(family, 10, "");
    happen(family, 10, 10, CENSUS_NEW_TASK, 11, SYS_clone, "");
    happen(family, 20, 11, CENSUS_EXIT, 0, 0, "");
    happen(family, 30, 10, CENSUS_NEW_TASK, 11, SYS_clone, "");
    happen(family, 40, 10, CENSUS_EXIT, 0, 0, "");
    happen(family, 50, 10, CENSUS_EXEC, 11, 0, "/bin/next");
    CHECK(family_has(family, 10) && !family_has(family, 11), "renumbered");
    happen(family, 60, 10, CENSUS_NEW_TASK, 12, SYS_clone, "");
    happen(family, 70, 10, CENSUS_NEW_TASK, 12, SYS_clone, "");
    family_end(family, 100, &totals);
    CHECK(totals.created == 4 && totals.unseen == 1 && told.count == 4, "one end was not seen");
    CHECK(strcmp(told.tasks[1].creator_program, "/bin/next") == 0, "its creator is the thread");
    family_free(family);
}

struct met {
    pid_t processes[MOST_TOLD];
    int count;
    int anew;
};

static void meet(void *context, pid_t process, bool first) {
    struct met *met = context;
    met->processes[met->count++] = process;
    met->anew += first;
}

/* Those that live are met by their numbers here, each for the first time once. */
static void check_living(void) {
    struct told told = {.count = 0};
    struct census_totals totals;
    struct met met = {.count = 0};
    struct family *family = family_new(0, tell, &told);
    struct census_event make = {.time_ns = 10, .task = 10, .here = 10, .kind = CENSUS_NEW_TASK, .number = 11};
    family_adopt(family, 10, "");
    CHECK(family_take(family, &make) == 0, "a child");
    make = (struct census_event){
        .time_ns = 20, .task = 10, .here = 10, .kind = CENSUS_NEW_TASK, .number = 12, .flags = TASK_THREAD};
    CHECK(family_take(family, &make) == 0, "a thread");
    /* In a namespace below ours numbers differ. */
    make = (struct census_event){.time_ns = 30, .task = 11, .here = 3, .kind = CENSUS_NEW_TASK, .number = 13};
    CHECK(family_take(family, &make) == 0, "a grandchild");
    family_living(family, meet, &met);
    CHECK(met.count == 2 && met.anew == 2, "a thread is no process, and one is known by no number here");
    CHECK(met.processes[0] == 10 && met.processes[1] == 3, "as they are numbered here");
    happen(family, 40, 11, CENSUS_EXIT, 0, 0, "");
    family_living(family, meet, &met);
    CHECK(met.count == 3 && met.anew == 2 && met.processes[2] == 10, "one has left");
    family_end(family, 100, &totals);
    family_free(family);
}

int main(void) {
    check_living();
    check_child();
    check_strangers_and_failures();
    check_numbers();
    return 0;
}
