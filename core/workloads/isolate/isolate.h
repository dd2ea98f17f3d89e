/* isolate.worker, isolate.pool: a worker fails, and who notices, who survives, who takes its place?
 *
 * Workers do small jobs for a supervisor, which is the probe. Workers that are threads live in a process of
 * their own, which is sacrificed; those that are processes, and those of a pool, are children of the
 * supervisor. One of them, the victim, is ordered to fail (`fault`).
 * Timed: from the victim's stamp before its last instruction (or the supervisor's before kill()) until the
 * supervisor knows (known_ns: wait has returned; for data that were overwritten, the answer of the neighbour
 * that found its own damaged); until a new worker in its place has done its first job (replaced_ns: forked
 * anew, the process with all its threads started anew, or the pool's idle spare woken); and until as many
 * workers as before have survived or done a job (restored_ns).
 * Outside: making the pool's next spare; asking the siblings for a job, which is how they are counted.
 * Bias: victims dump no core (RLIMIT_CORE, PR_SET_DUMPABLE), which would take the longest of all; the kernel
 * may write a line to its log for each. A supervisor that waits in wait() knows soonest; one that polls,
 * later. Source: wait(2), core(5), prctl(2), signal(7).
 */
#ifndef CLONOMETER_ISOLATE_H
#define CLONOMETER_ISOLATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/workload.h"

enum {
    ISOLATE_APART_BYTES = 128,
    ISOLATE_DATA_BYTES = 256,     /* of each worker's own data, its neighbour's right behind them */
    ISOLATE_OVERRUN_BYTES = 64,   /* how far a victim writes past its own */
    ISOLATE_LEAK_BYTES = 16 << 20 /* what a leaking victim may still take */
};

enum isolate_order { ISOLATE_JOB = 0, ISOLATE_FAIL };

/* What a worker leaves in its data, and what an overrun writes there: never the same. */
#define ISOLATE_OWN(number) ((unsigned char)((number) % 200))
#define ISOLATE_FOREIGN ((unsigned char)0xEE)

/* Ticks of stamps; 0: none. Counts are -1 where there is none. */
struct isolate_row {
    struct sample sample; /* `before`: the fault */
    uint64_t known;
    uint64_t replaced;
    uint64_t restored;
    int16_t survivors;
    int16_t damaged;
    int16_t parent_alive;
    int16_t end_signal;
    int16_t exit_status;
};

struct isolate;

/* A worker's place. Lies in memory that all share. */
struct isolate_slot {
    _Alignas(ISOLATE_APART_BYTES) uint32_t asked; /* orders given; the worker sleeps on it */
    enum isolate_order order;
    _Alignas(ISOLATE_APART_BYTES) uint32_t answered; /* orders obeyed; the supervisor sleeps on it */
    int damaged;                                     /* its data were not what it had left there */
    uint64_t done_ticks;
    uint64_t fault_ticks;
    pid_t task; /* as the kernel numbers it */
    pid_t pid;  /* 0: a thread, or none */
    int number;
    struct isolate *isolate;
};

struct isolate {
    const struct bench *bench;
    const struct request *request;
    size_t bytes;
    pid_t supervisor;
    pid_t server; /* of threads; 0: none */
    bool pool;
    int count; /* slots, the spare's included */
    int spare; /* -1: none */
    int victim;
    unsigned char *data;    /* private: each process has its copy */
    unsigned char *guarded; /* a page, and one behind it that nobody may touch */
    struct isolate_slot slots[];
};

/* Obeys orders until the end of the process. */
__attribute__((noreturn)) void isolate_serve(struct isolate_slot *self);

/* Fails in the way that is asked for. Returns only from what nobody notices. */
void isolate_fail(struct isolate_slot *self);

/* Starts the worker of one slot, or the process with all threads, each with a first job to do. 0 or -errno.
 */
int isolate_start_process(struct isolate_slot *slot);
int isolate_start_server(struct isolate *isolate);

/* Kills what runs and reaps it. */
void isolate_end_all(struct isolate *isolate);

void isolate_ask(struct isolate_slot *slot, enum isolate_order order);
/* Waits for the answer to the last order: 0 or -ETIMEDOUT. */
int isolate_await(struct isolate_slot *slot);

#endif
