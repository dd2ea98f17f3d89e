/* A program's family is followed from events, whatever their order of leaving. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clone.h"
#include "census/family.h"
#include "check.h"

enum { MOST_TOLD = 16 };

#ifdef SYS_vfork
enum { MADE_BY = SYS_vfork };
#else /* arm64 */
enum { MADE_BY = SYS_clone };
#endif

struct report {
    struct census_task tasks[MOST_TOLD];
    int count;
};

static void tell(void *context, const struct census_task *task) {
    struct report *report = context;
    if (report->count < MOST_TOLD) {
        report->tasks[report->count++] = *task;
    }
}

/* What CENSUS_NEW_TASK is made with. */
static uint64_t new_flags = TASK_VM;

static void happen(struct family *family, uint64_t time_ns, int32_t task, int32_t kind, int64_t number,
                   int64_t result, const char *path) {
    struct census_event event = {.time_ns = time_ns,
                                 .task = task,
                                 .kind = kind,
                                 .number = number,
                                 .result = result,
                                 .flags = new_flags,
                                 .path = path};
    CHECK(family_take(family, &event) == 0, "taken");
}

/* A child that begins a program and leaves before the call that made it has returned. */
static void check_child(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(1000, tell, &report);
    CHECK(family_adopt(family, 10, "/bin/sh") == 0 && family_has(family, 10), "the program itself");
    happen(family, 1100, 10, CENSUS_CALL, SYS_clone, 0, "");
    happen(family, 1150, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    happen(family, 1200, 11, CENSUS_RETURN, SYS_clone, 0, "");
    happen(family, 1300, 11, CENSUS_CALL, SYS_execve, 0, "");
    happen(family, 1350, 11, CENSUS_EXEC, 11, 0, "/bin/ls");
    happen(family, 1400, 11, CENSUS_RETURN, SYS_execve, 0, "");
    happen(family, 1500, 11, CENSUS_EXIT, 0, 0, "");
    CHECK(report.count == 0, "its making is not over");
    happen(family, 1600, 10, CENSUS_RETURN, SYS_clone, 11, "");
    CHECK(report.count == 1, "now it is");
    const struct census_task *task = &report.tasks[0];
    CHECK(task->creator == 10 && task->tid == 11 && task->call_number == SYS_clone, "who");
    CHECK(task->start_ns == 100 && task->call_ns == 500 && task->runs_ns == 100, "the call");
    CHECK(task->making_ns == 500 && task->cpu_wait_ns == CENSUS_UNKNOWN, "a creator that goes on by itself");
    CHECK(task->made_ns == 150 && task->exec_at_ns == 350, "when it was there, and when its program began");
    CHECK(task->cost_ns == 500, "its child's exec was within its call");
    CHECK(task->exec_ns == 100 && task->execs == 1 && task->failed_execs == 0, "the program");
    CHECK(task->life_ns == 350 && !task->alive, "its life");
    CHECK(strcmp(task->creator_program, "/bin/sh") == 0 && strcmp(task->program, "/bin/ls") == 0, "programs");
    family_end(family, 2000, &totals);
    CHECK(report.count == 1 && totals.created == 1 && totals.busy_ns == 500 && totals.last_ns == 1000,
          "totals");
    family_free(family);
}

static void check_strangers_and_failures(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
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
    CHECK(report.count == 1 && report.tasks[0].alive && report.tasks[0].life_ns == CENSUS_UNKNOWN,
          "it still runs");
    CHECK(report.tasks[0].call_ns == CENSUS_UNKNOWN && report.tasks[0].call_number == SYS_clone,
          "a call that was not seen");
    family_free(family);
}

/* A number that comes again, and a thread that takes the number of its process by exec. */
static void check_numbers(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
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
    CHECK(totals.created == 4 && totals.unseen == 1 && report.count == 4, "one end was not seen");
    CHECK(strcmp(report.tasks[1].creator_program, "/bin/next") == 0, "its creator is the thread");
    family_free(family);
}

struct met {
    pid_t processes[MOST_TOLD];
    int count;
};

static void meet(void *context, pid_t process, uint64_t known_ns) {
    (void)known_ns;
    struct met *met = context;
    met->processes[met->count++] = process;
}

/* Those that live are met by their numbers here. */
static void check_living(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct met met = {.count = 0};
    struct family *family = family_new(0, tell, &report);
    struct census_event make = {
        .time_ns = 10, .task = 10, .local_tid = 10, .kind = CENSUS_NEW_TASK, .number = 11};
    family_adopt(family, 10, "");
    CHECK(family_take(family, &make) == 0, "a child");
    make = (struct census_event){.time_ns = 20,
                                 .task = 10,
                                 .local_tid = 10,
                                 .kind = CENSUS_NEW_TASK,
                                 .number = 12,
                                 .flags = TASK_THREAD};
    CHECK(family_take(family, &make) == 0, "a thread");
    /* In a namespace below ours numbers differ. */
    make = (struct census_event){
        .time_ns = 30, .task = 11, .local_tid = 3, .kind = CENSUS_NEW_TASK, .number = 13};
    CHECK(family_take(family, &make) == 0, "a grandchild");
    family_living(family, meet, &met);
    CHECK(met.count == 2, "a thread is no process, and one is known by no number here");
    CHECK(met.processes[0] == 10 && met.processes[1] == 3, "as they are numbered here");
    happen(family, 40, 11, CENSUS_EXIT, 0, 0, "");
    family_living(family, meet, &met);
    CHECK(met.count == 3 && met.processes[2] == 10, "one has left");
    family_end(family, 100, &totals);
    family_free(family);
}

/* One vfork: the call at 100, the child at 120, its execve from 200 to 400, the creator's return at 900. */
enum { WOKEN_AT = 300, NEVER = 0 };

struct vfork_case {
    const char *what;
    uint64_t woken_at;  /* by the child */
    uint64_t others_at; /* the creator is woken by somebody else */
    bool sees_exec;     /* the event, not the call */
    bool sees_entry;    /* of the call of vfork */
    bool returns;
    int64_t call_ns, making_ns, cpu_wait_ns, cost_ns, busy_ns;
};

static const struct vfork_case VFORKS[] = {
    {"woken in the middle of execve", WOKEN_AT, NEVER, true, true, true, 800, 200, 600, 300, 300},
    {"a wake-up that is not the child's", NEVER, WOKEN_AT, true, true, true, 800, 250, 550, 300, 300},
    {"no wake-up: it did not sleep yet, or it was lost", NEVER, NEVER, true, true, true, 800, 250, 550, 300,
     300},
    {"neither seen: the child's end tells at the latest", NEVER, NEVER, false, true, true, 800, 500, 300, 500,
     500},
    {"the creator is killed when it was woken", WOKEN_AT, NEVER, true, true, false, -1, 200, -1, 300, 300},
    {"the creator's call was not seen", WOKEN_AT, NEVER, true, false, true, -1, -1, -1, 200, 200},
};

static void check_vfork(const struct vfork_case *trial) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
    new_flags = TASK_VM | TASK_VFORK;
    family_adopt(family, 10, "");
    if (trial->sees_entry) {
        happen(family, 100, 10, CENSUS_CALL, MADE_BY, 0, "");
    }
    happen(family, 120, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    happen(family, 200, 11, CENSUS_CALL, SYS_execve, 0, "");
    if (trial->others_at != NEVER) {
        happen(family, trial->others_at, 99, CENSUS_WAKE, 10, 0, "");
    }
    if (trial->woken_at != NEVER) {
        happen(family, trial->woken_at, 11, CENSUS_WAKE, 98, 0, "");
        happen(family, trial->woken_at, 11, CENSUS_WAKE, 10, 0, "");
    }
    if (trial->sees_exec) {
        happen(family, 350, 11, CENSUS_EXEC, 11, 0, "/bin/ls");
    }
    happen(family, 400, 11, CENSUS_RETURN, SYS_execve, 0, "");
    happen(family, 600, 11, CENSUS_EXIT, 0, 0, "");
    happen(family, 900, 10, trial->returns ? CENSUS_RETURN : CENSUS_EXIT, MADE_BY, 11, "");
    family_end(family, 1000, &totals);
    new_flags = TASK_VM;
    const struct census_task *task = &report.tasks[0];
    CHECK(report.count == 1, "%s: told once, not %d times", trial->what, report.count);
    CHECK(task->call_ns == trial->call_ns, "%s: call %lld", trial->what, (long long)task->call_ns);
    CHECK(task->making_ns == trial->making_ns, "%s: making %lld", trial->what, (long long)task->making_ns);
    CHECK(task->cpu_wait_ns == trial->cpu_wait_ns, "%s: wait %lld", trial->what,
          (long long)task->cpu_wait_ns);
    CHECK(task->cost_ns == trial->cost_ns, "%s: cost %lld", trial->what, (long long)task->cost_ns);
    CHECK(totals.busy_ns == trial->busy_ns, "%s: busy %lld", trial->what, (long long)totals.busy_ns);
    family_free(family);
}

/* A fork's child execs while its creator is still in the call, or beyond it: what both share counts once. */
static void check_fork_and_exec(uint64_t returns_ns, int64_t cost_ns) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
    family_adopt(family, 10, "");
    happen(family, 100, 10, CENSUS_CALL, SYS_clone, 0, "");
    happen(family, 120, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    bool early = returns_ns < 400;
    if (returns_ns < 200) {
        happen(family, returns_ns, 10, CENSUS_RETURN, SYS_clone, 11, "");
    }
    happen(family, 200, 11, CENSUS_CALL, SYS_execve, 0, "");
    happen(family, 250, 11, CENSUS_WAKE, 10, 0, "");
    if (returns_ns >= 200 && early) {
        happen(family, returns_ns, 10, CENSUS_RETURN, SYS_clone, 11, "");
    }
    happen(family, 400, 11, CENSUS_RETURN, SYS_execve, 0, "");
    if (!early) {
        happen(family, returns_ns, 10, CENSUS_RETURN, SYS_clone, 11, "");
    }
    family_end(family, 1000, &totals);
    CHECK(report.tasks[0].making_ns == (int64_t)returns_ns - 100, "it waits for nobody");
    CHECK(report.tasks[0].cost_ns == cost_ns, "cost %lld", (long long)report.tasks[0].cost_ns);
    CHECK(totals.busy_ns == cost_ns, "busy %lld", (long long)totals.busy_ns);
    family_free(family);
}

/* A thread of the program vforks while the first one forks: each has its own. And a call whose return was
 * lost does not keep its child. */
static void check_threads_and_lost_returns(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
    family_adopt(family, 10, "");
    family_adopt(family, 20, "");
    happen(family, 100, 10, CENSUS_CALL, SYS_clone, 0, "");
    happen(family, 110, 20, CENSUS_CALL, SYS_clone3, 0, "");
    happen(family, 120, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    new_flags = TASK_VM | TASK_VFORK;
    happen(family, 130, 20, CENSUS_NEW_TASK, 21, CENSUS_UNKNOWN, "");
    new_flags = TASK_VM;
    happen(family, 140, 21, CENSUS_WAKE, 10, 0, "");
    happen(family, 150, 21, CENSUS_WAKE, 20, 0, "");
    happen(family, 160, 21, CENSUS_EXIT, 0, 0, "");
    happen(family, 170, 20, CENSUS_RETURN, SYS_clone3, 21, "");
    CHECK(report.count == 1 && report.tasks[0].making_ns == 40 && report.tasks[0].cpu_wait_ns == 20,
          "the thread's");
    happen(family, 180, 11, CENSUS_EXIT, 0, 0, "");
    CHECK(report.count == 1 && family_alive(family) == 2, "the call of the first one goes on");
    happen(family, 300, 10, CENSUS_CALL, SYS_clone, 0, "");
    CHECK(report.count == 2 && report.tasks[1].tid == 11 && report.tasks[1].making_ns == CENSUS_UNKNOWN,
          "its end was lost");
    family_end(family, 400, &totals);
    CHECK(totals.busy_ns == 300, "busy %lld", (long long)totals.busy_ns);
    family_free(family);
}

static bool only_ten(void *context, pid_t task, uint64_t known_ns) {
    (void)known_ns;
    (void)context;
    return task == 10;
}

/* Who is not there any more has left, though nobody saw when. */
static void check_missing(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
    struct census_event make = {
        .time_ns = 10, .task = 10, .local_tid = 10, .kind = CENSUS_NEW_TASK, .number = 11};
    family_adopt(family, 10, "");
    CHECK(family_take(family, &make) == 0 && family_alive(family) == 2, "a child");
    family_miss(family, 50, only_ten, NULL);
    CHECK(family_alive(family) == 1 && report.count == 1 && !report.tasks[0].alive, "it has gone");
    CHECK(report.tasks[0].life_ns == CENSUS_UNKNOWN, "when is not known");
    family_end(family, 100, &totals);
    CHECK(totals.unseen == 1, "and said");
    family_free(family);
}

/* A 32-bit program: neither the return from its exec nor its calls are seen. */
static void check_unseen_calls(void) {
    struct report report = {.count = 0};
    struct census_totals totals;
    struct family *family = family_new(0, tell, &report);
    family_adopt(family, 10, "");
    happen(family, 100, 10, CENSUS_CALL, SYS_execve, 0, "");
    happen(family, 150, 10, CENSUS_EXEC, 10, 0, "/bin/narrow");
    happen(family, 5000, 10, CENSUS_NEW_TASK, 11, CENSUS_UNKNOWN, "");
    happen(family, 5100, 11, CENSUS_PREPARED, 0, 0, "");
    happen(family, 5200, 11, CENSUS_EXIT, 0, 0, "");
    CHECK(report.count == 1 && report.tasks[0].call_number == CENSUS_UNKNOWN, "no call is made up");
    CHECK(report.tasks[0].making_ns == CENSUS_UNKNOWN && !report.tasks[0].did.known, "nor what was not seen");
    family_end(family, 6000, &totals);
    CHECK(totals.busy_ns == 50, "the exec was over when the program began: %d", (int)totals.busy_ns);
    CHECK(totals.callless == 1 && totals.siteless == 0, "why there is no site");
    family_free(family);
}

int main(void) {
    check_unseen_calls();
    for (size_t i = 0; i < sizeof VFORKS / sizeof VFORKS[0]; i++) {
        check_vfork(&VFORKS[i]);
    }
    check_fork_and_exec(150, 250);
    check_fork_and_exec(300, 300);
    check_fork_and_exec(500, 400);
    check_threads_and_lost_returns();
    check_missing();
    check_living();
    check_child();
    check_strangers_and_failures();
    check_numbers();
    return 0;
}
