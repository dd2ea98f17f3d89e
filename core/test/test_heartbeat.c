/* The heartbeat writes all of the memory before and after the call, and knows which gap is whose. */
#include "workloads/cow/heartbeat.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/sys.h"
#include "check.h"

enum { BYTES = 64 << 10, STEP = 4096 };

static void test_owner(void) {
    CHECK(heartbeat_owner(HEARTBEAT_QUIET, HEARTBEAT_QUIET) == HEARTBEAT_QUIET, "from QUIET to QUIET");
    CHECK(heartbeat_owner(HEARTBEAT_QUIET, HEARTBEAT_CALL) == HEARTBEAT_CALL, "from QUIET to CALL");
    CHECK(heartbeat_owner(HEARTBEAT_QUIET, HEARTBEAT_AFTER) == HEARTBEAT_CALL, "from QUIET to AFTER");
    CHECK(heartbeat_owner(HEARTBEAT_CALL, HEARTBEAT_CALL) == HEARTBEAT_CALL, "from CALL to CALL");
    CHECK(heartbeat_owner(HEARTBEAT_CALL, HEARTBEAT_AFTER) == HEARTBEAT_CALL, "from CALL to AFTER");
    CHECK(heartbeat_owner(HEARTBEAT_AFTER, HEARTBEAT_AFTER) == HEARTBEAT_AFTER, "from AFTER to AFTER");
}

/* Waits until it has been written since. On a busy machine that takes as long as the thread waits for its
 * CPU. */
static void await_write(unsigned char *memory) {
    struct timespec moment = {.tv_nsec = 100000};
    size_t at = 0;
    memset(memory, 0, BYTES);
    while (__atomic_load_n(&memory[at], __ATOMIC_RELAXED) == 0) {
        at = (at + STEP) % BYTES;
        if (at == 0) {
            nanosleep(&moment, NULL);
        }
    }
}

static void check_round(struct heartbeat *heart, uint32_t round, unsigned char *memory) {
    memset(memory, 0, BYTES);
    heartbeat_begin(heart, round, memory, BYTES, STEP);
    for (size_t at = 0; at < BYTES; at++) {
        CHECK(memory[at] == (at % STEP == 0), "byte %zu", at);
    }
    heartbeat_set(heart, HEARTBEAT_CALL);
    /* Two gaps at least, whose median is asked for. */
    for (int i = 0; i < 4; i++) {
        await_write(memory);
    }
    memset(memory, 0, BYTES);
    heartbeat_set(heart, HEARTBEAT_AFTER);
    heartbeat_await(heart, round);
    for (size_t at = 0; at < BYTES; at += STEP) {
        CHECK(memory[at] == 1, "byte %zu", at);
    }
    for (int phase = 0; phase < HEARTBEAT_PHASES; phase++) {
        const struct gaps *gaps = &heart->gaps[phase];
        uint64_t counted = 0;
        for (int bin = 0; bin < GAPS_BINS; bin++) {
            counted += gaps->bins[bin];
        }
        CHECK(gaps->count > 0 && gaps->count == counted, "phase %d", phase);
        CHECK(gaps->longest >= gaps_one_in(gaps, 2) && gaps_one_in(gaps, 2) > 0, "phase %d", phase);
    }
    CHECK(heart->pass_ticks[HEARTBEAT_QUIET] > 0, "QUIET");
    CHECK(heart->pass_ticks[HEARTBEAT_CALL] == 0, "CALL");
    CHECK(heart->pass_ticks[HEARTBEAT_AFTER] > 0, "AFTER");
}

int main(void) {
    static unsigned char memory[BYTES];
    static struct heartbeat hearts[1];
    static struct gaps gaps[HEARTBEAT_PHASES];
    struct heartbeat *heart = hearts;
    struct sys_cpus allowed;
    pthread_t thread;
    CHECK(sys_allowed(&allowed) == 0, "no affinity");
    clock_used.kind = CLOCK_KIND_MONOTONIC;
    clock_used.hz = 1000000000U;
    test_owner();
    CHECK(heartbeat_start(heart, gaps, sys_highest_cpu(&allowed), &thread) == 0, "no thread");
    check_round(heart, 1, memory);
    check_round(heart, 2, memory);
    heartbeat_stop(heart, 2, thread);
    return 0;
}
