#include "workloads/launch/launch.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clone.h"
#include "base/sys.h"
#include "targets/stamps.h"

#define AT(field) (IMAGE_STAMPS_OFFSET + offsetof(struct image_stamps, field))
_Static_assert(offsetof(struct stamps, image_entered_ticks) == AT(entered) &&
                   offsetof(struct stamps, image_ticks) == AT(runs) &&
                   offsetof(struct stamps, image_ends_ticks) == AT(ends) &&
                   offsetof(struct stamps, image_cpu) == AT(cpu) &&
                   offsetof(struct image_stamps, cpu) + sizeof(uint32_t) == IMAGE_STAMPS_BYTES,
               "targets write their stamps straight into the stamp page");

#define IN_SAMPLE(field) offsetof(struct sample, field)
#define IN_LAUNCH(field) offsetof(struct launch_row, field)
#define IN_ROW(field) offsetof(struct program_row, field)
#define STAGES_UNTIL_IMAGE                                                                                   \
    {"start_ns", COLUMN_SINCE_BLOCK, IN_SAMPLE(before), NULL, NULL},                                         \
        {"call_returns_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(call_returns), "call_returns",                    \
         "until the call returns in the parent"},                                                            \
        {"task_runs_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(task_runs), "task_runs",                             \
         "until the first instruction of the new task's own code"}
#define STAGES_FROM_IMAGE                                                                                    \
    {"image_runs_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(image_runs), "image_runs",                              \
     "until the first line of the new program's main"},                                                      \
        {"reaped_ns", COLUMN_SINCE_BEFORE, IN_LAUNCH(reaped), "reaped", "until wait or join has returned"},  \
        {"cpu_before", COLUMN_CPU, IN_SAMPLE(cpu_before), NULL, NULL},                                       \
        {"cpu_after", COLUMN_CPU, IN_SAMPLE(cpu_after), NULL, NULL},                                         \
        {"cpu_child", COLUMN_CPU, IN_SAMPLE(cpu_child), NULL, NULL},                                         \
        {"errno", COLUMN_ERRNO, IN_SAMPLE(error), NULL, NULL},                                               \
        {"launcher", COLUMN_LAUNCHER, IN_SAMPLE(launcher), NULL, NULL},                                      \
        {"additions_before_ns", COLUMN_SHORT, IN_LAUNCH(additions_before), NULL, NULL},                      \
        {"additions_after_ns", COLUMN_SHORT, IN_LAUNCH(additions_after), NULL, NULL},                        \
        {NULL, COLUMN_ERRNO, 0, NULL, NULL},

const struct column LAUNCH_COLUMNS[] = {STAGES_UNTIL_IMAGE, STAGES_FROM_IMAGE};
const struct column PROGRAM_COLUMNS[] = {
    STAGES_UNTIL_IMAGE,
    {"image_entered_ns", COLUMN_SINCE_BEFORE, IN_ROW(image_entered), "image_entered",
     "until the entry of the new program's file, before its C library has set itself up"},
    {"image_ends_ns", COLUMN_SINCE_BEFORE, IN_ROW(image_ends), "image_ends",
     "until the last line of the new program's main"},
    STAGES_FROM_IMAGE};
const char *const PROGRAM_DETAILS[] = {"image_entered_ns", "image_ends_ns", NULL};

const char *const LAUNCH_AXES[] = {AXES_LAUNCH, NULL};
const char *const FORK_AXES[] = {AXES_LAUNCH, AXES_CLOSE, "process_ending", NULL};
const struct null_reason NO_NEW_PROGRAM[] = {{"image_runs_ns", "no new program is started"}, {NULL, NULL}};

/* glibc lets the kernel keep the child's thread id in its TLS; musl asks it afterwards. */
#ifdef __GLIBC__
const struct clone_facts LIBRARY_FORK = {.flags = TASK_CHILD_SETTID | TASK_CHILD_CLEARTID,
                                         .reaped_by = "wait"};
#else
const struct clone_facts LIBRARY_FORK = {.flags = 0, .reaped_by = "wait"};
#endif
const struct clone_facts LIBRARY_VFORK = {.flags = TASK_VM | TASK_VFORK, .reaped_by = "wait"};
const struct clone_facts LIBRARY_THREAD = {.flags = TASK_PTHREAD, .reaped_by = "futex"};

WORKLOAD_HOT int launch_reap(const struct bench *bench, pid_t pid, struct sample *sample) {
    int status = 0;
    int error = sys_wait(pid, &status);
    launch_reaped(sample);
    if (error != 0) {
        return error;
    }
    if (bench->stamps->child_error != 0) {
        return -bench->stamps->child_error;
    }
    /* Which status a foreign program ends with is its own affair; that it was killed is not. */
    return WIFEXITED(status) ? 0 : -ECHILD;
}

int launch_reap_program(const struct bench *bench, pid_t pid, struct sample *sample) {
    int error = launch_reap(bench, pid, sample);
    if (error == 0) {
        struct program_row *row = (struct program_row *)(void *)sample;
        row->image_entered = bench->stamps->image_entered_ticks;
        row->image_ends = bench->stamps->image_ends_ticks;
    }
    return error;
}

const char *launch_point(const char *stage) {
    return stage != NULL && strcmp(stage, "image_runs") == 0 ? "main" : NULL;
}
