/* switch.yield
 * Timed: as ring.h says, but nobody sleeps: a task gives the turn to the next one, in a word, and calls
 * sched_yield() until it has it again. `yields` counts the calls of all tasks: more than one a hand-over
 * where the scheduler let the caller, or a task whose turn it was not, go on. Alone, with all others asleep,
 * a task gives the turn to itself and calls sched_yield() once. Bias: on CPUs of their own the tasks only
 * watch a word: nothing is switched, so partner_cpu=other is refused, and what placement=free shows on
 * another CPU is the way of a cache line. Source: sched_yield(2).
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>

#include "base/sys.h"
#include "workloads/switch/ring.h"

enum { MOST_TASKS = 32 };

static uint32_t turn_of(const struct ring *ring) {
    return __atomic_load_n(&ring->turn, __ATOMIC_ACQUIRE);
}

static void park(struct ring *ring) {
    __atomic_add_fetch(&ring->parked, 1U, __ATOMIC_ACQ_REL);
    while (turn_of(ring) == RING_NOBODYS && !team_over(ring->team)) {
        sys_futex_wait(&ring->turn, RING_NOBODYS, ring->shared);
    }
}

static int wait(struct ring *ring, int task) {
    for (uint32_t turn = turn_of(ring); turn != (uint32_t)task; turn = turn_of(ring)) {
        if (team_over(ring->team)) {
            return -ECHILD;
        }
        if (turn == RING_NOBODYS) {
            park(ring);
        } else {
            ring->channels[task].yields++;
            sched_yield();
        }
    }
    return 0;
}

static int post(struct ring *ring, int task) {
    __atomic_store_n(&ring->turn, (uint32_t)task, __ATOMIC_RELEASE);
    return 0;
}

static int alone(struct ring *ring) {
    (void)ring;
    sched_yield();
    return 0;
}

static int end(struct ring *ring) {
    __atomic_store_n(&ring->turn, RING_NOBODYS, __ATOMIC_RELEASE);
    while (__atomic_load_n(&ring->parked, __ATOMIC_ACQUIRE) < (uint32_t)ring->tasks - 1) {
        if (team_over(ring->team)) {
            return -ECHILD;
        }
        sched_yield();
    }
    return 0;
}

static int begin(struct ring *ring) {
    /* The first sample finds them still on their way to sleep. */
    int error = end(ring);
    ring->parked = 0;
    post(ring, 0);
    sys_futex_wake(&ring->turn, INT_MAX, ring->shared);
    return error;
}

static int check(const struct request *request, struct reason *reason) {
    if (request->ring_tasks > MOST_TASKS) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "with %lld yielding tasks the scheduler may run any of them, so that one turn takes hundreds of "
            "sched_yield() calls; at most %d",
            (long long)request->ring_tasks, MOST_TASKS);
    }
    return request->partner_cpu == PARTNER_CPU_SAME
               ? 0
               : reason_set(reason, -EOPNOTSUPP,
                            "a task alone on its CPU has no other task to yield to: nothing is switched");
}

static const struct ring_ways WAYS = {
    .counts_yields = true,
    .check = check,
    .wait = wait,
    .post = post,
    .alone = alone,
    .begin = begin,
    .end = end,
};

static const struct column COLUMNS[] = {
    RING_COLUMNS_COMMON,
    {"yields", COLUMN_COUNT, offsetof(struct ring_row, yields), NULL,
     "calls of sched_yield in the hand-overs of a sample"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

RING_WORKLOAD(switch_yield, "switch.yield", WAYS, "a task gives the next one its turn and yields", COLUMNS);
