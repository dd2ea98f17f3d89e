/* wake.futex, wake.thread_futex
 * Timed: as wake.h says; the waking call stores a word and calls FUTEX_WAKE on it, where the worker, an idle
 * pre-forked process or a thread of a pool, sleeps in FUTEX_WAIT; the answer is a second word. Between
 * threads the futex is private, which spares the kernel the look-up of the page behind it. Source: futex(2),
 * futex(7).
 */
#include "base/sys.h"
#include "workloads/wake/wake.h"

static void raise_word(uint32_t *word, int shared) {
    __atomic_add_fetch(word, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(word, 1, shared);
}

/* Sleeps until the word is past `seen`. Only the other side writes it. */
static void await(uint32_t *word, uint32_t seen, int shared) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen) {
        sys_futex_wait(word, seen, shared);
    }
}

/* Before the n-th call both words are n - 1; each side knows by its own word what the other's was. */
#define WAYS_OF(name, shared)                                                                                \
    static void call_##name(struct wake *wake) {                                                             \
        raise_word(&wake->calls, shared);                                                                    \
    }                                                                                                        \
    static void wait_answer_##name(struct wake *wake) {                                                      \
        await(&wake->answers, wake->calls - 1, shared);                                                      \
    }                                                                                                        \
    static void wait_call_##name(struct wake *wake) {                                                        \
        await(&wake->calls, wake->answers, shared);                                                          \
    }                                                                                                        \
    static void answer_##name(struct wake *wake) {                                                           \
        raise_word(&wake->answers, shared);                                                                  \
    }                                                                                                        \
    static const struct wake_ways name = {NULL, call_##name, wait_answer_##name, wait_call_##name,           \
                                          answer_##name};

WAYS_OF(process, 1)
WAYS_OF(thread, 0)

WAKE_WORKLOAD(wake_futex, "wake.futex", process, process,
              "an idle pre-forked process is woken by a futex in shared memory");
WAKE_WORKLOAD(wake_thread_futex, "wake.thread_futex", thread, thread,
              "an idle thread of a pool is woken by a private futex");
