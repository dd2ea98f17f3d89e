/* What switches have in common: tasks in a ring, of whom one runs and wakes the next; two are a ping-pong.
 *
 * Timed: some laps of the ring, from before this task wakes the next one until it runs again after the last
 * lap; handover_ns is that for each hand-over from one task to the next, system calls and work included.
 * Beside it, just before, alone_ns: as many of the same calls and as much of the same work by this task
 * alone, which wakes itself and so never sleeps. switch_ns is their difference: what the switches themselves
 * cost, the caches that they leave cold included (Li, Ding and Shen 2007, "Quantifying the cost of context
 * switch"). Outside: a lap before each, so that caches and tasks are in the state that lasts. Bias: the task
 * that hands over sleeps a little after it has woken the next one, so that with two CPUs the two overlap. A
 * sample is a mean over its hand-overs. Where a task moved to another CPU within a sample, or a free ring of
 * more tasks used several at once, the sample has no observed placement.
 */
#ifndef CLONOMETER_RING_H
#define CLONOMETER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/workload.h"
#include "workloads/team/team.h"

enum { RING_HANDOVERS = 20 }; /* in a sample, where the ring has no more tasks than that */

struct ring_row {
    struct sample sample;
    uint64_t handovers; /* ticks of all of them together, as of all here */
    uint64_t alone;
    int64_t difference;
    int64_t yields; /* calls of sched_yield, where the tasks hand over by it */
};

extern const struct column RING_COLUMNS[];
extern const char *const RING_AXES[];

#define RING_COLUMNS_COMMON                                                                                  \
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},                           \
        {"handover_ns", COLUMN_EACH, offsetof(struct ring_row, handovers), NULL,                             \
         "from one task to the next, calls and work included"},                                              \
        {"alone_ns", COLUMN_EACH, offsetof(struct ring_row, alone), NULL,                                    \
         "the same calls and work by one task alone"},                                                       \
        {"switch_ns", COLUMN_SIGNED_EACH, offsetof(struct ring_row, difference), NULL,                       \
         "the switch itself: a hand-over less the same calls and work of one task"},                         \
        {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},                         \
        {"cpu_after", COLUMN_CPU, offsetof(struct sample, cpu_after), NULL, NULL}, {                         \
        "cpu_child", COLUMN_CPU, offsetof(struct sample, cpu_child), NULL, NULL                              \
    }

#define RING_NOBODYS UINT32_MAX /* a turn that nobody has: who yields sleeps instead */

/* Where one task sleeps. Two tasks write it: the one that sleeps and the one before it. */
struct channel {
    _Alignas(TEAM_LINE_BYTES) uint32_t word;
    int fds[2];                                   /* read from, written to */
    _Alignas(TEAM_LINE_BYTES) unsigned char *set; /* the task's own memory, of working_set_bytes */
    uint64_t yields;
    int32_t cpu;
};

struct ring;

/* What tells the mechanisms apart. Waits and posts return 0, or -errno when a task has gone. */
struct ring_ways {
    int descriptors; /* of each channel */
    bool counts_yields;
    int (*check)(const struct request *request, struct reason *reason); /* may be NULL */
    int (*open)(struct channel *channel);                               /* may be NULL */
    int (*wait)(struct ring *ring, int task);
    int (*post)(struct ring *ring, int task);
    int (*alone)(struct ring *ring); /* posts to this task and waits; NULL: by the two above */
    int (*begin)(struct ring *ring); /* before and after laps; may be NULL */
    int (*end)(struct ring *ring);
};

/* In memory that the tasks share. */
struct ring {
    const struct ring_ways *ways;
    struct team *team;
    int tasks;
    int laps;
    int shared; /* whether futexes are reached by processes */
    bool watch; /* whether the tasks say where they run */
    size_t set_bytes;
    size_t mapped;
    pid_t process;
    pid_t task;
    _Alignas(TEAM_LINE_BYTES) uint32_t turn;
    _Alignas(TEAM_LINE_BYTES) uint32_t parked;
    _Alignas(TEAM_LINE_BYTES) int32_t last_cpu; /* these two belong to the task whose turn it is */
    int64_t crossings;
    struct channel channels[];
};

/* Starts the tasks. 0, or -errno with the reason; then none is left. */
int ring_prepare(struct bench *bench, const struct ring_ways *ways, struct reason *reason);

/* One sample. 0, or -errno when a task has gone. */
int ring_launch(const struct bench *bench, struct sample *sample);

int64_t ring_operations(const struct request *request);

/* Ends the tasks. */
void ring_finish(struct bench *bench);

/* The processes and threads that a task is signalled by. */
pid_t ring_process_of(const struct ring *ring, int task);
pid_t ring_task_of(const struct ring *ring, int task);

#define RING_WORKLOAD(variable, name, ways_of, says, columns_of)                                             \
    static int prepare_##variable(struct bench *bench, struct reason *reason) {                              \
        return ring_prepare(bench, &(ways_of), reason);                                                      \
    }                                                                                                        \
    const struct workload variable = {                                                                       \
        .id = (name),                                                                                        \
        .family = "switch",                                                                                  \
        ROWS_OF(ring_row),                                                                                   \
        .summary = (says),                                                                                   \
        .answers.columns = (columns_of),                                                                     \
        .axes = RING_AXES,                                                                                   \
        .prepare = prepare_##variable,                                                                       \
        .launch = ring_launch,                                                                               \
        .rows.operations = ring_operations,                                                                  \
        .finish = ring_finish,                                                                               \
    }

#endif
