/* What tasks have in common is told when it is new, and again when another kind has had its number. */
#include "census/kinds.h"

#include "base/clone.h"
#include "check.h"

static struct census_task plain(void) {
    struct census_task task = {.call_number = 56,
                               .flags = TASK_VM,
                               .asked = {.exit_signal = 17, .own_stack = 1},
                               .execs = 1,
                               .did = {.known = true, .closes = 3, .handlers = 2}};
    strcpy(task.creator_program, "/bin/sh");
    strcpy(task.program, "/bin/true");
    return task;
}

static bool is_new(const struct census_task *task) {
    bool new = false;
    CHECK(kinds_of(task, &new) < KINDS, "a number");
    return new;
}

/* Each differs from the plain one in one thing. */
static void check_differences(void) {
    struct census_task tasks[14];
    for (size_t i = 0; i < 14; i++) {
        tasks[i] = plain();
    }
    tasks[0].call_number = 57;
    tasks[1].flags = TASK_VM | TASK_VFORK;
    tasks[2].asked.exit_signal = 0;
    tasks[3].asked.own_stack = 0;
    tasks[4].execs = 2;
    tasks[5].failed_execs = 1;
    tasks[6].alive = true;
    tasks[7].did.known = false;
    tasks[8].did.cut = true;
    tasks[9].did.closes = 4;
    tasks[10].did.times[3] = 1;
    strcpy(tasks[11].creator_program, "/bin/bash");
    strcpy(tasks[12].program, "/bin/false");
    strcpy(tasks[13].helper, "/bin/env");
    for (size_t i = 0; i < 14; i++) {
        struct census_task task = plain();
        (void)is_new(&task);
        CHECK(!is_new(&task), "told already");
        CHECK(is_new(&tasks[i]), "difference %zu", i);
    }
}

/* What differs between any two tasks is no matter of their kind. */
static void check_times(void) {
    struct census_task task = plain();
    (void)is_new(&task);
    task.tid = 4711;
    task.start_ns = 12345;
    task.life_ns = 99;
    task.site = 7;
    /* What is behind the end of a name. */
    task.program[strlen(task.program) + 1] = 'x';
    CHECK(!is_new(&task), "the same kind");
}

/* More kinds than there are numbers: each is told before its number is used again. */
static void check_many(void) {
    static int64_t closes_of[KINDS];
    for (int64_t round = 0; round < 3; round++) {
        for (int64_t closes = 100; closes < 100 + 2 * KINDS; closes++) {
            struct census_task task = plain();
            bool new = false;
            task.did.closes = closes;
            unsigned kind = kinds_of(&task, &new);
            CHECK(new || closes_of[kind] == closes, "number %u means %d descriptors", kind,
                  (int)closes_of[kind]);
            closes_of[kind] = closes;
        }
    }
}

int main(void) {
    check_differences();
    check_times();
    check_many();
    return 0;
}
