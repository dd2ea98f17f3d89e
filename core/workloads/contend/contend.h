/* What the workloads of contention share: workers, threads or processes, that repeat one operation at the
 * same time, and a starter that counts what they get done.
 *
 * Timed: a window between two readings of the clock, both while the workers are at work: the first once each
 * has finished a batch of operations (or, where many take turns, 20 ms after they were let go), the second
 * before any is told to stop. At both the starter reads how
 * many batches each has finished; op_ns is the window times the workers divided by the operations between the
 * two readings, so what one operation costs one worker, waiting for a CPU included; cpu_op_ns is the CPU time
 * of the workers for each of their operations, waiting not included; throughput_per_s is of all together.
 * Outside: launching the workers, the gate that starts them, their first and their last batches.
 * Bias: a batch that is under way at a reading counts for neither or for all of it, a batch in some hundred.
 * A worker stores after each batch how many it has done, on cache lines of its own, and reads one word that
 * is written once. The starter sleeps during the window and then needs a CPU for a moment.
 * Placement: pinned workers are each bound to a CPU, spread over all that are allowed; free ones go where the
 * scheduler puts them. Source: will-it-scale's way to count (tests by threads and by processes).
 */
#ifndef CLONOMETER_CONTEND_H
#define CLONOMETER_CONTEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"
#include "probe/workload.h"
#include "workloads/gate/gate.h"
#include "workloads/launch/remover.h"

enum {
    CONTEND_APART_BYTES = 128, /* two cache lines, since some processors fetch them in pairs */
    CONTEND_PATH_BYTES = 256
};

struct contend_row {
    struct sample sample;
    double op_ns;
    double cpu_op_ns;
    double throughput_per_s;
};

/* What is the same in the table's rows of this family. */
#define CONTEND_FACTS                                                                                        \
    .family = "contend", ROWS_OF(contend_row), .answers.columns = CONTEND_COLUMNS, .launch = contend_window, \
    .finish = contend_end

extern const struct column CONTEND_COLUMNS[];
#define AXES_CONTEND AXES_MACHINE, "task_kind", "workers"

struct contend;

/* One worker. No two share a cache line. */
struct contend_worker {
    _Alignas(CONTEND_APART_BYTES) struct contend *contend;
    int number;
    pid_t pid; /* 0: a thread, or a process that has gone */
    pthread_t thread;
    int error;       /* 0, or the errno of the operation that failed */
    uint64_t cpu;    /* nanoseconds of CPU that its last round took */
    uint64_t round;  /* batches of its last round */
    uint64_t before; /* batches before its last round; the starter's */
    void *memory;    /* of the operation; private to the worker */
    uint64_t *counter;
    char path[CONTEND_PATH_BYTES];
    _Alignas(CONTEND_APART_BYTES) uint64_t batches; /* read by the starter while the worker runs */
};

/* What tells the operations apart. All of a worker's are called by the worker itself: what a process makes
 * there is its own. They return 0 or -errno. */
struct contend_ways {
    int64_t operations;                         /* in a batch */
    int64_t worker_bytes;                       /* memory that a worker writes */
    int64_t pages;                              /* that it writes beside that */
    int64_t blocks;                             /* of allocation_bytes that it holds beside that */
    bool files;                                 /* each worker is given a path of a file that exists */
    int (*open)(struct contend_worker *worker); /* may be NULL */
    int (*batch)(struct contend_worker *worker);
    void (*close)(struct contend_worker *worker); /* may be NULL */
};

/* Lies in memory that threads and processes share. Words that tasks wait at are apart from each other. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what tasks wait at shall share no line. */
struct contend {
    const struct bench *bench;
    const struct contend_ways *ways;
    struct contend_worker *workers;
    unsigned char *counters;
    size_t bytes; /* of all this */
    int count;
    int started;
    struct sys_cpus affinity; /* the CPUs to spread over; the bench's own copy is kept from children */
    int cpus;
    pid_t starter;
    uint32_t rounds;
    bool broken; /* a worker process has died: there is nothing left to measure */
    struct remover remover;
    char folder[CONTEND_PATH_BYTES]; /* empty: none */
    _Alignas(CONTEND_APART_BYTES) struct gate gate;
    _Alignas(CONTEND_APART_BYTES) struct tally ready;
    _Alignas(CONTEND_APART_BYTES) struct tally done;
    _Alignas(CONTEND_APART_BYTES) uint32_t stopped; /* the round that is to end */
    bool over;
};

/* Asks the limits, starts the workers and waits until all stand ready. 0, or -errno with the reason; then
 * none is left. */
int contend_start(struct bench *bench, const struct contend_ways *ways, struct reason *reason);

/* One window. 0, or the -errno of an operation that failed, or -ECHILD when a worker process has died. */
int contend_window(const struct bench *bench, struct sample *sample);

/* Ends all workers, reaps them and removes the files. */
void contend_end(struct bench *bench);

/* The folder with the workers' files, watched by a remover that removes it whatever ends the probe. 0 or
 * -errno. */
int contend_files_make(struct contend *contend);
void contend_files_remove(struct contend *contend);

/* A worker's whole life. */
void contend_serve(struct contend_worker *self);

/* Starts all. 0, or -errno with the reason; `started` says how many there are. */
int contend_start_tasks(struct contend *contend, struct reason *reason);

/* Waits until the count is reached. 0, or -ECHILD once a worker process has died. */
int contend_await(struct contend *contend, struct tally *tally, uint32_t count);

/* Waits for the ends of all; `kill_them`: processes are not asked. */
void contend_reap(struct contend *contend, bool kill_them);

#endif
