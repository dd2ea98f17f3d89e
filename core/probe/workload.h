/* A workload is one small file and one row in the table. */
#ifndef CLONOMETER_WORKLOAD_H
#define CLONOMETER_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/options.h"
#include "probe/parent/state.h"
#include "probe/samples.h"

struct sys_cpus;
struct walker;

/* What a launch goes through between one start and the next lies side by side in the program: a fork empties
 * the TLB, and each page more of code is then 20 ns. */
#define WORKLOAD_HOT __attribute__((hot))

enum column_kind {
    COLUMN_SINCE_BLOCK,  /* uint64_t ticks, from the start of the block, in ns */
    COLUMN_SINCE_BEFORE, /* uint64_t ticks, from the sample's stamp before the call, in ns; 0 is null */
    COLUMN_DURATION,     /* uint64_t ticks, in ns; 0 is null */
    COLUMN_SHORT,        /* uint32_t ticks, in ns, sent as i32; 0 is null */
    COLUMN_EACH,         /* uint64_t ticks for many operations, in ns each, f64 */
    COLUMN_SIGNED_EACH,  /* int64_t ticks for many operations, in ns each, f64; below zero means something */
    COLUMN_NS,           /* int64_t, already in ns; INT64_MIN is null */
    COLUMN_SIGNED_NS,    /* the same, where a value below zero means something */
    COLUMN_BYTES_EACH,   /* int64_t bytes of many operations, in bytes each, f64; may be below zero; INT64_MIN
                            is null */
    COLUMN_SIGNED_BYTES, /* int64_t bytes; INT64_MIN is null */
    COLUMN_COUNT,        /* int64_t; INT64_MIN is null */
    COLUMN_SMALL_COUNT,  /* int16_t; -1 is null */
    COLUMN_REAL_NS,      /* double, already in ns; NaN is null */
    COLUMN_REAL_COUNT,   /* double; NaN is null */
    COLUMN_PER_SECOND,   /* double, in 1/s */
    COLUMN_BYTES_PER_S,  /* int64_t, already bytes a second; INT64_MIN is null */
    COLUMN_CPU,          /* int32_t; -1 is null */
    COLUMN_ERRNO,        /* int16_t, sent as i32 */
    COLUMN_LAUNCHER,     /* the same, which of those at work: a launcher, or a worker */
};

struct column {
    const char *name;
    enum column_kind kind;
    size_t offset;       /* in the workload's row */
    const char *stage;   /* NULL outside launches */
    const char *summary; /* NULL: no quantity, only a fact about the sample */
};

/* A quantity that this workload never has, and why. */
struct null_reason {
    const char *column;
    const char *reason;
};

/* A distribution that a sample holds as a ladder: the quantities that one in so many values reaches, the
 * shortest first, and the longest of all (one_in is 0); `count` is the quantity that says how many there
 * were.
 */
enum { LADDER_MOST_STEPS = 8 };
struct distribution {
    const char *name; /* NULL ends the list */
    const char *count;
    struct ladder_step {
        const char *quantity; /* NULL ends the ladder */
        int64_t one_in;
    } steps[LADDER_MOST_STEPS];
};

enum { OPERATIONS_EACH = 1000 }; /* operations in a sample of a COLUMN_EACH, unless the workload says */

/* What the kernel is asked for and how the task is reaped: facts of the catalogue, and the kernel confirms
 * them (tests/integration/test_flags.py). */
struct clone_facts {
    uint64_t flags;        /* TASK_* of base/clone.h, without the exit signal */
    bool exact;            /* our own call: these flags and no others; else the library sets these at least */
    const char *reaped_by; /* "wait" for the end of a process, "futex" for a cleared thread id */
    const char *step_from; /* the workload that has one thing less; NULL outside ladders */
};

/* The program that exec starts. It lives on a stack, not in static memory: more of that would spread the C
 * library's own variables over one page more, which every forked child then copies. And beside the bench, not
 * in it: where no program is started nobody writes to these pages, so that there are none to copy. */
enum { PROGRAM_MOST_ARGUMENTS = 16 };
struct program {
    char words[4096]; /* the path and the arguments, each ended by NUL */
    const char *path;
    char stamp_argument[40];
    char *own_arguments[PROGRAM_MOST_ARGUMENTS + 3];
    /* What exec is given: the own arguments and the probe's environment, or both with padding. */
    char **arguments;
    char **environment;
};

/* What a task sends as one word: its ticks, and its CPU in the lowest bits, as many as sys_cpus has. */
enum { STAMP_CPU_BITS = 12 };

/* What a workload works with. All of it is set up before the first stamp. */
struct bench {
    const struct request *request;
    struct stamps *stamps;
    int stamps_fd;
    int stamps_offset; /* of `stamps` in that file */
    bool stamp_child;
    bool stamp_by_write;     /* the new task has no mapping of the stamp page */
    int stamp_event;         /* an eventfd: the way of the new task's first stamp; below 0: as all others */
    uint64_t stamp_base;     /* what the ticks in it count from */
    struct program *program; /* written by who prepares one */
    struct parent parent;
    struct sys_cpus *affinity; /* the CPUs this process was given, before it pinned itself */
    struct walker *walker;     /* what thrashes the caches, in the arena; NULL: nothing does */
    void *state;               /* the workload's own, set by its prepare */
};

/* The rows in which a workload keeps its samples. */
struct rows {
    size_t bytes;     /* of one, which begins with a struct sample */
    bool of_launches; /* it begins with a struct launch_row, which takes what the stamp page holds */
    /* How many a launch fills, all of them by itself, with the errno of each that failed. NULL: one. */
    int64_t (*each)(const struct request *request);
    /* How many operations a row's COLUMN_EACH holds. NULL: OPERATIONS_EACH. */
    int64_t (*operations)(const struct request *request);
};
#define ROWS_OF(type) .rows.bytes = sizeof(struct type)
#define ROWS_OF_LAUNCHES(type) ROWS_OF(type), .rows.of_launches = true

/* What its rows say. Whatever is not set is not there. */
struct answers {
    const struct column *columns; /* ended by a NULL name */
    /* Quantities that explain the others: no finding is about them, no short table has them. */
    const char *const *details;   /* ended by NULL */
    const char *distributions_of; /* what the distributions are of */
    const struct distribution *distributions;
    bool phases;                     /* phases of one event: drawn together, against the same axis */
    const struct null_reason *nulls; /* ended by a NULL column */
    /* The same, where the machine decides. NULL: `nulls` are all. */
    const struct null_reason *(*nulls_here)(void);
    const char *call_returns_contains; /* why it is not ranked: "child_life", "answer" */
};

/* The task that it makes, if it makes one. */
struct made_task {
    const struct clone_facts *facts; /* NULL: no task is made */
    /* It has its own copy of the memory: it sends its stamps by a write to the memory file, which costs a
     * small fork less than inheriting one mapping more and faulting it in. */
    bool copies_memory;
};

/* What must hold before it can measure. Each may be NULL. */
struct needs {
    /* The GLIBC_TUNABLES that the process must have been started with, or NULL. */
    const char *(*tunables)(const struct request *request);
    /* Whether this machine can do it at all: 0, or -errno with the reason. */
    int (*available)(struct reason *reason);
    /* Whether the request makes sense and the machine has room, asked before anything is mapped: 0, or -errno
     * with the reason. */
    int (*check)(const struct request *request, struct reason *reason);
};

struct workload {
    const char *id;
    const char *family;
    const char *summary;
    const char *const *axes; /* ended by NULL */
    bool has_temperature;
    bool counts_only;   /* nothing is timed and nothing varies: one launch a block, none before */
    bool places_itself; /* the workload puts its tasks on CPUs: `placement` is no axis of it */
    struct made_task task;
    struct rows rows;
    struct answers answers;
    struct needs needs;
    const void *about; /* what workloads that share these functions differ by; they know its type */
    /* Makes ready what the launches need. 0, or -errno with the reason (the cell is skipped). May be NULL. */
    int (*prepare)(struct bench *bench, struct reason *reason);
    /* One launch into its row: stamps the sample. 0, or -errno of a launch that failed. */
    int (*launch)(const struct bench *bench, struct sample *sample);
    /* Ends what prepare started, after the last block. May be NULL. */
    void (*finish)(struct bench *bench);
};

/* Axes by what they change, so that one that is added reaches every workload it belongs to. */
#define AXES_MACHINE "linkage", "placement", "frequency"
#define AXES_PLACE AXES_MACHINE, "stages"
#define AXES_PARENT                                                                                          \
    "page_kind", "pages", "parent_bytes", "vmas", "vma_kind", "open_files", "file_kind", "parent_threads",   \
        "thread_state", "mlockall", "caches", "idle_ns", "thrash_bytes", "thrash_cpu", "sched_class"
#define AXES_CLOSE "nofile", "close_files"
#define AXES_PROGRAM "program", "env_bytes", "arg_bytes"
#define AXES_CONCURRENCY "concurrency", "launchers"
#define AXES_COLD "launch_number", "after"
#define AXES_SPIN "call_spin_ns", "stamp_spin_ns", "child_spin_ns"

extern const struct workload *const WORKLOADS[]; /* ended by NULL */

const struct workload *workload_find(const char *id);

/* Whether the workload has the axis. */
bool workload_has_axis(const struct workload *workload, const char *axis);

#endif
