/* Sleeping on a word of memory. */
#ifndef CLONOMETER_FUTEX_H
#define CLONOMETER_FUTEX_H

#include <stdint.h>

/* Sleeps while `*word` is `value`, at most `timeout_ns` (negative: for ever). 0 when woken or when the word
 * already differs, -ETIMEDOUT, -EINTR. The word may lie in memory that processes share. */
int sys_futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);

/* Wakes all that sleep on the word. */
void sys_futex_wake(uint32_t *word);

#endif
