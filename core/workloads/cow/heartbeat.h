/* A thread of the parent that goes on writing to its memory, on a CPU of its own, and reads the clock after
 * each write: what other threads notice of a fork. */
#ifndef CLONOMETER_HEARTBEAT_H
#define CLONOMETER_HEARTBEAT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/workload.h"
#include "workloads/cow/gaps.h"
#include "workloads/gate/gate.h"

enum heartbeat_phase { HEARTBEAT_QUIET = 0, HEARTBEAT_CALL, HEARTBEAT_AFTER, HEARTBEAT_PHASES };

enum { HEARTBEAT_LINE_BYTES = 64 };

/* Lies in memory that a fork leaves writable: a page that it protects would stall the thread by itself. What
 * each side writes has cache lines of its own. */
struct heartbeat {
    uint32_t phase; /* of enum heartbeat_phase, set by the thread that forks */
    struct gate go;
    uint32_t end; /* no further round */
    int32_t cpu;
    unsigned char *memory;
    size_t length;
    size_t step;
    char unshared[HEARTBEAT_LINE_BYTES];
    uint32_t quiet; /* the thread's: it has written all of it once, undisturbed */
    struct tally done;
    uint64_t pass_ticks[HEARTBEAT_PHASES]; /* one pass over all the memory; none in the call */
    struct gaps *gaps;                     /* between two writes, of each phase; no child inherits them */
};

/* Whose a gap is, by the phases at its two ends: one that the call lies in, or that began in it, is the
 * call's. */
static inline enum heartbeat_phase heartbeat_owner(uint32_t began, uint32_t ended) {
    return began == HEARTBEAT_QUIET && ended != HEARTBEAT_QUIET ? HEARTBEAT_CALL
                                                                : (enum heartbeat_phase)began;
}

/* Starts the thread on this CPU; it sleeps until the first round. `gaps` has room for every phase and must
 * not be copied on write. 0 or -errno. */
int heartbeat_start(struct heartbeat *heart, struct gaps *gaps, int cpu, pthread_t *thread);

/* Begins a round over this memory and returns when all of it has been written once. */
void heartbeat_begin(struct heartbeat *heart, uint32_t round, unsigned char *memory, size_t length,
                     size_t step);

/* Says in which phase the caller is. */
static inline void heartbeat_set(struct heartbeat *heart, enum heartbeat_phase phase) {
    __atomic_store_n(&heart->phase, (uint32_t)phase, __ATOMIC_SEQ_CST);
}

/* After HEARTBEAT_AFTER was set: returns when all of the memory has been written once more, and the thread
 * sleeps. */
void heartbeat_await(struct heartbeat *heart, uint32_t round);

/* Ends the thread. */
void heartbeat_stop(struct heartbeat *heart, uint32_t rounds, pthread_t thread);

#endif
