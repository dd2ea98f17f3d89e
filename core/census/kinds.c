#include "census/kinds.h"

#include <string.h>

struct kind {
    bool used;
    struct census_task task; /* one of this kind */
};

static struct kind kinds[KINDS];

/* Source: FNV-1a, a word or a letter at a time. */
static uint64_t mix(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t mix_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++) {
        hash = mix(hash, (unsigned char)*text);
    }
    return mix(hash, 0);
}

static uint64_t hash_task(const struct census_task *task) {
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), task->flags);
    hash = mix(hash, (uint64_t)task->call_number);
    hash = mix(hash, (uint64_t)task->execs);
    hash = mix(hash, (uint64_t)task->did.closes);
    hash = mix(hash, (uint64_t)task->did.handlers);
    for (size_t i = 0; i < PREPARING_MOST_CALLS; i++) {
        hash = mix(hash, task->did.times[i]);
    }
    hash = mix_text(hash, task->creator_program);
    hash = mix_text(hash, task->program);
    return mix_text(hash, task->helper);
}

static bool same_did(const struct census_did *a, const struct census_did *b) {
    return a->known == b->known && a->cut == b->cut && a->closes == b->closes && a->handlers == b->handlers &&
           memcmp(a->times, b->times, sizeof a->times) == 0;
}

static bool same_kind(const struct census_task *a, const struct census_task *b) {
    return a->call_number == b->call_number && a->flags == b->flags &&
           a->asked.exit_signal == b->asked.exit_signal && a->asked.own_stack == b->asked.own_stack &&
           a->execs == b->execs && a->failed_execs == b->failed_execs && a->alive == b->alive &&
           same_did(&a->did, &b->did) && strcmp(a->creator_program, b->creator_program) == 0 &&
           strcmp(a->program, b->program) == 0 && strcmp(a->helper, b->helper) == 0;
}

unsigned kinds_of(const struct census_task *task, bool *new) {
    uint64_t hash = hash_task(task);
    unsigned number = (unsigned)((hash ^ hash >> 32) % KINDS);
    struct kind *kind = &kinds[number];
    *new = !kind->used || !same_kind(&kind->task, task);
    if (*new) {
        *kind = (struct kind){.used = true, .task = *task};
    }
    return number;
}
