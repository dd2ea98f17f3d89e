/* switch.futex
 * Timed: as ring.h says; a task is woken by a store to a word of its own and FUTEX_WAKE, and sleeps in
 * FUTEX_WAIT. Between threads the futex is private, which spares the kernel the look-up of the page behind
 * it. Alone, a task wakes nobody and its wait returns at once, since the word has changed: the same two
 * calls. Source: futex(2), futex(7).
 */
#include "base/sys.h"
#include "workloads/switch/ring.h"

static int wait(struct ring *ring, int task) {
    uint32_t *word = &ring->channels[task].word;
    int error = team_await_word(ring->team, word, 0);
    __atomic_store_n(word, 0U, __ATOMIC_RELAXED);
    return error;
}

static int post(struct ring *ring, int task) {
    uint32_t *word = &ring->channels[task].word;
    __atomic_store_n(word, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(word, 1, ring->shared);
    return 0;
}

static int alone(struct ring *ring) {
    post(ring, 0);
    sys_futex_wait(&ring->channels[0].word, 0, ring->shared);
    return wait(ring, 0);
}

static const struct ring_ways WAYS = {.wait = wait, .post = post, .alone = alone};

RING_WORKLOAD(switch_futex, "switch.futex", WAYS, "a task wakes the next one by a futex and sleeps",
              RING_COLUMNS);
