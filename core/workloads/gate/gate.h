/* A gate that tasks wait at, and a count that somebody waits for: both asleep, never spinning, since a
 * spinning task is load on the CPU that is measured. Zeroed memory is a closed gate. The words may lie in
 * memory that processes share; every function is safe from any task. */
#ifndef CLONOMETER_GATE_H
#define CLONOMETER_GATE_H

#include <stdint.h>

/* How often it was opened, so that one gate serves round after round. */
struct gate {
    uint32_t rounds;
};

/* Lets all pass that wait for this round. */
void gate_open(struct gate *gate);

/* Returns once the gate has been opened `round` times. */
void gate_pass(struct gate *gate, uint32_t round);

/* Whether it has been opened `round` times, without waiting. */
int gate_is_open(const struct gate *gate, uint32_t round);

struct tally {
    uint32_t count;
};

void tally_add(struct tally *tally);

/* The same for one of `all` tasks: only the last of them wakes who waits, so that one who waits for all is
 * not woken again and again for nothing on a CPU that they need. */
void tally_add_of(struct tally *tally, uint32_t all);

/* Returns 0 once the count has reached `count`; -ETIMEDOUT if `timeout_ns` pass without any change of it
 * (negative: never). */
int tally_await(struct tally *tally, uint32_t count, int64_t timeout_ns);

#endif
