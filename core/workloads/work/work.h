/* Workers that compute and write, as in burian-2015: what the parts of work.factor share.
 *
 * All that a worker stores lies in memory shared with the starter, so that it serves threads and processes
 * alike; only the counters lie in private memory, which threads share and processes do not. */
#ifndef CLONOMETER_WORK_H
#define CLONOMETER_WORK_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/workload.h"
#include "workloads/gate/gate.h"
#include "workloads/launch/remover.h"

enum {
    WORK_APART_BYTES = 128,       /* two cache lines, which some processors fetch together */
    WORK_LINE_BYTES = 128,        /* the longest text of a number and its factors */
    WORK_BUFFER_BYTES = 4096,     /* of a stdio stream */
    WORK_LINE_GUESS_BYTES = 26,   /* of a number below a million with its factors: 22 to 25 on the average */
    WORK_LEAKED_BLOCKS = 3,       /* for each number: as many big numbers as burian-2015's program forgets */
    WORK_LEAKED_BYTES = 8,        /* of each: one machine word of digits */
    WORK_STACK_BYTES = 128 << 10, /* of a thread whose memory is there before it starts */
    WORK_PATH_BYTES = 1024
};

struct work;

/* What is counted of a worker in one execution. */
struct worker_counts {
    int64_t divisions;
    int64_t migrations;
    int64_t cpu_ns;
    int64_t voluntary_switches;
    int64_t involuntary_switches;
    int64_t minor_faults;
    int64_t major_faults;
    int64_t run_queue_wait_ns; /* INT64_MIN: the kernel does not tell */
};

/* One worker: what it is given, and what it found. No two share a cache line. */
struct worker {
    _Alignas(WORK_APART_BYTES) struct work *work;
    int number;
    int error; /* 0, or the errno of what failed */
    pthread_t thread;
    pid_t pid; /* 0: not running */
    bool started;
    volatile uint64_t *counter; /* factors found */
    char *stack;                /* NULL: the library's */
    char *buffer;               /* of its stream; NULL: the library's */
    struct stamp begins;
    struct stamp ends;
    struct worker_counts counts;
};

/* One program of workers. Lies in shared memory; the words that tasks wait at are apart from each other. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what tasks wait at shall share no line. */
struct work {
    const struct request *request;
    struct sys_cpus affinity; /* the bench's own lies where children cannot see it */
    pid_t starter;
    int cpu; /* of cpus=one */
    int64_t executions;
    struct worker *workers;
    char *counters;
    struct remover remover;
    bool has_folder;
    char folder[WORK_PATH_BYTES];
    FILE *stream;  /* shared by all; NULL: none */
    int append_fd; /* the same for a file; -1: none */
    uint32_t round;
    _Alignas(WORK_APART_BYTES) struct gate gate;
    _Alignas(WORK_APART_BYTES) struct tally ready;
    _Alignas(WORK_APART_BYTES) int stop; /* another worker failed: nobody needs the rest */
};

/* A row of the answer: one worker in one execution. */
struct worker_row {
    struct sample sample; /* `before`: the beginning of the whole */
    int16_t worker;
    int64_t execution;
    uint64_t begins; /* stamps; 0: none, as of those that follow */
    uint64_t ends;
    uint64_t works; /* ticks */
    struct worker_counts counts;
    /* Of the whole program, in the first worker's row alone. */
    uint64_t whole_ends;
    uint64_t whole_took; /* ticks */
};

/* Decomposes `number` by trial division into at most 32 factors, rising, and counts the divisions. `at_root`:
 * ends at the square root of what is left. How many factors. 1 has none. */
int work_factors(uint32_t number, bool at_root, uint32_t factors[32], int64_t *divisions);

/* Writes "12: 2 2 3\n". Its length, below WORK_LINE_BYTES. */
size_t work_line(uint32_t number, const uint32_t *factors, int count, char *line);

/* About how many divisions the numbers from 1 to `numbers` take: good to a third. */
double work_divisions(int64_t numbers, bool at_root);

/* Refuses what makes no sense, or more than this machine has: tasks, memory, descriptors, room for the
 * files, hours. 0, or -errno with the reason. */
int work_check(const struct request *request, struct reason *reason);
int work_allocator_available(int64_t allocator, struct reason *reason);

/* The folder for the files, watched by a remover that removes it whatever ends the probe. 0, or -errno with
 * the reason. */
int work_folder_make(struct work *work, struct reason *reason);
void work_folder_remove(struct work *work);
/* Which folder it is made in. */
const char *work_folder_parent(const struct request *request);

/* Opens and closes what all workers share, and removes the files of an execution. 0 or -errno. */
int work_output_open(struct work *work);
int work_output_close(struct work *work);
void work_output_remove(const struct work *work);
/* Writes every file before the first execution: result_files=overwritten. 0 or -errno. */
int work_output_fill(const struct work *work);

/* A worker's own end of the output. */
struct outlet {
    FILE *stream; /* NULL: `fd`, or nothing */
    int fd;       /* -1: none */
    bool worker_closes;
    bool flushed; /* a copy of the shared stream, whose buffer nobody else will flush */
    bool unlocked;
};
int work_outlet_open(const struct worker *worker, struct outlet *outlet);
int work_outlet_write(const struct outlet *outlet, const char *line, size_t length);
int work_outlet_close(const struct outlet *outlet);

/* A worker's whole life, from its first stamp to its last. */
void work_serve(struct worker *worker);

/* Launches the workers and waits for their ends. The stamps before the first launch (or as all were released)
 * and after the last end. The first errno of any, or 0. */
int work_execute(struct work *work, struct stamp *begins, struct stamp *ends);

#endif
