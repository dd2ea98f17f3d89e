/* What launches have in common: the stamps of the parent, the child's life, the columns. */
#ifndef CLONOMETER_LAUNCH_H
#define CLONOMETER_LAUNCH_H

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/raw.h"
#include "base/sys.h"
#include "probe/parent/parent.h"
#include "probe/workload.h"

enum { TASK_STAMP_BYTES = 12 };
_Static_assert(offsetof(struct stamps, task_cpu) == offsetof(struct stamp, cpu) &&
                   offsetof(struct stamp, cpu) + sizeof(uint32_t) == TASK_STAMP_BYTES,
               "a stamp is stored as it is");

/* A row of a launch that execs. */
struct program_row {
    struct launch_row launch;
    uint64_t image_entered; /* 0: none */
    uint64_t image_ends;    /* 0: none */
};

/* Axes of launches, and of those that start a program. */
#define AXES_LAUNCH AXES_PLACE, AXES_PARENT, AXES_SPIN, AXES_COLD
#define AXES_START AXES_PLACE, AXES_PARENT, AXES_COLD

/* What is the same in the table's rows of launches that start no program, and of forks among them. */
#define LAUNCH_FACTS                                                                                         \
    .family = "same_image", .has_temperature = true, ROWS_OF_LAUNCHES(launch_row),                           \
    .answers.columns = LAUNCH_COLUMNS, .answers.nulls = NO_NEW_PROGRAM
#define FORK_FACTS LAUNCH_FACTS, .task.copies_memory = true

/* The same of launches that start a program. */
#define PROGRAM_FACTS                                                                                        \
    .family = "new_program", .has_temperature = true, ROWS_OF_LAUNCHES(program_row),                         \
    .answers.columns = PROGRAM_COLUMNS, .answers.details = PROGRAM_DETAILS,                                  \
    .prepare = launch_prepare_program

extern const struct column LAUNCH_COLUMNS[];
extern const struct column PROGRAM_COLUMNS[];
extern const char *const PROGRAM_DETAILS[];
extern const char *const LAUNCH_AXES[];
extern const char *const FORK_AXES[];
extern const struct null_reason NO_NEW_PROGRAM[];
extern const struct clone_facts LIBRARY_FORK;
extern const struct clone_facts LIBRARY_VFORK;
extern const struct clone_facts LIBRARY_THREAD;

static inline void launch_before(struct sample *sample) {
    struct stamp stamp = clock_read();
    sample->before = stamp.ticks;
    sample->cpu_before = (int32_t)stamp.cpu;
}

static inline void launch_spin_call(const struct bench *bench) {
    if (bench->request->call_spin_ns > 0) {
        clock_spin((uint64_t)bench->request->call_spin_ns);
    }
}

static inline void launch_call_returned(const struct bench *bench, struct sample *sample) {
    launch_spin_call(bench);
    launch_row(sample)->call_returns = clock_read().ticks;
}

/* Before it waits, as programs do that have other things to do. */
static inline void launch_sleep(const struct bench *bench) {
    if (bench->request->reap_after_ns > 0) {
        sys_sleep(bench->request->reap_after_ns);
    }
}

static inline void launch_reaped(struct sample *sample) {
    struct stamp stamp = clock_read();
    launch_row(sample)->reaped = stamp.ticks;
    sample->cpu_after = (int32_t)stamp.cpu;
}

/* Stores into the stamp page from the new task: straight where it shares the memory, else through the file.
 */
static inline void launch_put(const struct bench *bench, size_t offset, const void *value, size_t length) {
    if (bench->stamp_by_write) {
        raw_call4(SYS_pwrite64, bench->stamps_fd, (long)value, (long)length,
                  bench->stamps_offset + (long)offset);
    } else {
        memcpy((char *)bench->stamps + offset, value, length);
    }
}

/* Sends the new task's first stamp: where it has its own copy of the memory in one word of an eventfd, since
 * in a new task a write to a file costs three times as much. */
static inline void launch_send(const struct bench *bench, struct stamp stamp) {
    if (bench->stamp_event >= 0) {
        uint64_t word = (stamp.ticks - bench->stamp_base) << STAMP_CPU_BITS | stamp.cpu;
        raw_call4(SYS_write, bench->stamp_event, (long)&word, sizeof word, 0);
    } else {
        launch_put(bench, offsetof(struct stamps, task_ticks), &stamp, TASK_STAMP_BYTES);
    }
}

/* The new task's own first code: the clock is read first, then stored, since storing takes a system call in a
 * forked child and must not be part of the stamp. */
static inline void launch_task_runs(const struct bench *bench) {
    if (bench->request->stamp_spin_ns > 0) {
        clock_spin((uint64_t)bench->request->stamp_spin_ns);
    }
    if (bench->stamp_child) {
        launch_send(bench, clock_read());
    }
}

static inline void launch_before_exit(const struct bench *bench) {
    if (bench->request->child_spin_ns > 0) {
        clock_spin((uint64_t)bench->request->child_spin_ns);
    }
}

/* What daemons do in a new child, in a task with descriptors of its own; `kept` stays open, -1: none does. */
static inline void launch_close_files(const struct bench *bench, int kept) {
    if (bench->request->close_files != CLOSE_NONE) {
        parent_close_files(bench, kept);
    }
}

/* Ends a forked child that has its own copy of the memory. */
__attribute__((noreturn)) static inline void launch_child_ends(const struct bench *bench) {
    launch_close_files(bench, -1);
    launch_before_exit(bench);
    if (bench->request->process_ending == PROCESS_EXIT) {
        exit(0);
    }
    _exit(0);
}

/* Reaps a child process and stamps it. 0; the child's -errno if it could not exec; -ECHILD if a signal ended
 * it. */
int launch_reap(const struct bench *bench, pid_t pid, struct sample *sample);

/* The same of a launch whose row is a struct program_row: also keeps the stamps of the new program. */
int launch_reap_program(const struct bench *bench, pid_t pid, struct sample *sample);

/* Where in the code a stage ends, where that has not always been the same place: runs that name different
 * points are not compared there. NULL for all others. */
const char *launch_point(const char *stage);

/* Finds the program that exec starts and makes its arguments. 0, or -errno with the reason. */
int launch_prepare_program(struct bench *bench, struct reason *reason);

/* The same with a command as in `program=` that the workload itself chooses. */
int launch_prepare_command(struct bench *bench, const char *command, struct reason *reason);

/* Brings its arguments and its environment to `arg_bytes` and `env_bytes`. 0, or -errno with the reason. */
int launch_pad_program(struct bench *bench, struct reason *reason);

#endif
