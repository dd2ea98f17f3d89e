/* Both ways of listening to a program name every task that it makes, with the flags that it was made with. */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tracer/trace.h"

enum { MADE = 3, STATUS = 7 };

typedef int tracing(char **arguments, struct trace *trace, struct reason *reason);

/* What is traced: this program once more, which makes children one after the other. */
static void make(void) {
    for (int i = 0; i < MADE; i++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    _exit(STATUS);
}

static bool names_all(tracing *by) {
    static struct trace trace;
    static char program[] = "/proc/self/exe";
    static char word[] = "make";
    struct reason reason = {""};
    char *arguments[] = {program, word, NULL};
    if (by(arguments, &trace, &reason) != 0) {
        return false;
    }
    CHECK(trace.exit_status == STATUS, "how the program ended");
    CHECK(trace.count == MADE && trace.lost == 0, "every child is named, and none twice");
    for (size_t i = 0; i < trace.count; i++) {
        CHECK(trace.tasks[i].tid > 0 && trace.tasks[i].creator > 0, "a child and who made it");
        CHECK((trace.tasks[i].flags & CLONE_VM) == 0, "a child of fork has memory of its own");
        CHECK(i == 0 || trace.tasks[i].tid != trace.tasks[i - 1].tid, "each is another one");
    }
    return true;
}

static void check_room(void) {
    static struct trace trace;
    const struct new_task task = {.creator = 1, .tid = 2};
    for (size_t i = 0; i < TRACE_MOST_TASKS + 2; i++) {
        trace_note(&trace, &task);
    }
    CHECK(trace.count == TRACE_MOST_TASKS && trace.lost == 2, "what there is no room for is counted");
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "make") == 0) {
        make();
    }
    check_room();
    bool by_ptrace = names_all(trace_by_ptrace);
    bool by_perf = names_all(trace_by_perf);
    return by_ptrace || by_perf ? 0 : TEST_NOT_POSSIBLE;
}
