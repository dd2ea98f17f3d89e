#include "workloads/gate/gate.h"

#include <errno.h>
#include <limits.h>

#include "base/sys.h"

static uint32_t load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void gate_open(struct gate *gate) {
    __atomic_add_fetch(&gate->rounds, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(&gate->rounds, INT_MAX, 1);
}

int gate_is_open(const struct gate *gate, uint32_t round) {
    return load(&gate->rounds) >= round;
}

void gate_pass(struct gate *gate, uint32_t round) {
    for (uint32_t seen = load(&gate->rounds); seen < round; seen = load(&gate->rounds)) {
        sys_futex_wait(&gate->rounds, seen, 1);
    }
}

void tally_add(struct tally *tally) {
    __atomic_add_fetch(&tally->count, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(&tally->count, INT_MAX, 1);
}

void tally_add_of(struct tally *tally, uint32_t all) {
    if (__atomic_add_fetch(&tally->count, 1U, __ATOMIC_ACQ_REL) % all == 0) {
        sys_futex_wake(&tally->count, INT_MAX, 1);
    }
}

int tally_await(struct tally *tally, uint32_t count, int64_t timeout_ns) {
    for (uint32_t seen = load(&tally->count); seen < count; seen = load(&tally->count)) {
        int error = timeout_ns < 0 ? sys_futex_wait(&tally->count, seen, 1)
                                   : sys_futex_wait_for(&tally->count, seen, timeout_ns);
        if (error == -ETIMEDOUT && load(&tally->count) == seen) {
            return -ETIMEDOUT;
        }
    }
    return 0;
}
