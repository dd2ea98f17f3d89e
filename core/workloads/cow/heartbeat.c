#include "workloads/cow/heartbeat.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"

enum {
    STACK_BYTES = 64 << 10,
    LEAST_NS = 1000000 /* a phase lasts at least so long, however little memory there is: one timer tick */
};

struct beat {
    uint64_t last; /* the clock after the last write */
    uint32_t phase;
    size_t at;
};

static inline void write_once(struct heartbeat *heart, struct beat *beat) {
    ((volatile unsigned char *)heart->memory)[beat->at] = 1;
    uint64_t now = clock_read().ticks;
    uint32_t phase = __atomic_load_n(&heart->phase, __ATOMIC_ACQUIRE);
    enum heartbeat_phase owner = heartbeat_owner(beat->phase, phase);
    gaps_add(&heart->gaps[owner], now - beat->last);
    beat->last = now;
    beat->phase = phase;
    beat->at += heart->step;
    beat->at = beat->at < heart->length ? beat->at : 0;
}

/* Writes all of the memory once, whatever phase begins meanwhile; then goes on until the phase is old enough.
 */
static void pass(struct heartbeat *heart, struct beat *beat, enum heartbeat_phase phase,
                 uint64_t least_ticks) {
    size_t writes = (heart->length + heart->step - 1) / heart->step;
    uint64_t start = beat->last;
    for (size_t i = 0; i < writes; i++) {
        write_once(heart, beat);
    }
    heart->pass_ticks[phase] = beat->last - start;
    while (beat->last - start < least_ticks) {
        write_once(heart, beat);
    }
}

static void beat_round(struct heartbeat *heart) {
    uint64_t least_ticks = clock_used.hz * LEAST_NS / 1000000000U;
    struct beat beat = {.last = clock_read().ticks, .phase = HEARTBEAT_QUIET, .at = 0};
    pass(heart, &beat, HEARTBEAT_QUIET, least_ticks);
    __atomic_store_n(&heart->quiet, 1U, __ATOMIC_RELEASE);
    while (beat.phase != HEARTBEAT_AFTER) {
        write_once(heart, &beat);
    }
    pass(heart, &beat, HEARTBEAT_AFTER, least_ticks);
}

static void *run(void *argument) {
    struct heartbeat *heart = argument;
    (void)sys_pin(heart->cpu);
    for (uint32_t round = 1;; round++) {
        gate_pass(&heart->go, round);
        if (__atomic_load_n(&heart->end, __ATOMIC_ACQUIRE) != 0) {
            return NULL;
        }
        beat_round(heart);
        tally_add(&heart->done);
    }
}

int heartbeat_start(struct heartbeat *heart, struct gaps *gaps, int cpu, pthread_t *thread) {
    pthread_attr_t attributes;
    size_t least = (size_t)PTHREAD_STACK_MIN;
    memset(heart, 0, sizeof *heart);
    heart->cpu = cpu;
    heart->gaps = gaps;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    error = pthread_attr_setstacksize(&attributes, least > STACK_BYTES ? least : STACK_BYTES);
    error = error != 0 ? error : pthread_create(thread, &attributes, run, heart);
    pthread_attr_destroy(&attributes);
    return -error;
}

void heartbeat_begin(struct heartbeat *heart, uint32_t round, unsigned char *memory, size_t length,
                     size_t step) {
    heart->memory = memory;
    heart->length = length;
    heart->step = step;
    memset(heart->pass_ticks, 0, sizeof heart->pass_ticks);
    memset(heart->gaps, 0, HEARTBEAT_PHASES * sizeof *heart->gaps);
    heart->quiet = 0;
    heartbeat_set(heart, HEARTBEAT_QUIET);
    while (heart->go.rounds < round) {
        gate_open(&heart->go);
    }
    /* It spins: a CPU that has just slept would fork more slowly than one that is at work. */
    while (__atomic_load_n(&heart->quiet, __ATOMIC_ACQUIRE) == 0) {
        __asm__ volatile("" ::: "memory");
    }
}

void heartbeat_await(struct heartbeat *heart, uint32_t round) {
    (void)tally_await(&heart->done, round, -1);
}

void heartbeat_stop(struct heartbeat *heart, uint32_t rounds, pthread_t thread) {
    __atomic_store_n(&heart->end, 1U, __ATOMIC_RELEASE);
    while (heart->go.rounds <= rounds) {
        gate_open(&heart->go);
    }
    pthread_join(thread, NULL);
}
