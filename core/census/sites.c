#include "census/sites.h"

#include <stdlib.h>
#include <string.h>

#include "events/events.h"

enum { SLOTS = 1 << 15 /* more than sites, and unwindings that are remembered */ };
static const uint64_t SECOND_NS = 1000000000;

/* An unwinding that was done: for which registers, what it read, what came of it. */
struct known {
    uint64_t registers; /* their hash */
    size_t bytes;       /* of the copy, where that mattered; else 0 */
    uint64_t *words;    /* addresses, then what was there */
    size_t count;
    int32_t site;
    uint32_t next; /* place + 1 */
};

struct sites *sites_new(void) {
    struct reason reason = {""};
    struct sites *sites = calloc(1, sizeof *sites);
    if (sites == NULL) {
        return NULL;
    }
    sites->by_frames = calloc(SLOTS, sizeof *sites->by_frames);
    sites->by_registers = calloc(SLOTS, sizeof *sites->by_registers);
    sites->site = calloc(SITES_MOST, sizeof *sites->site);
    sites->known = calloc(SITES_MOST_KNOWN, sizeof *sites->known);
    if (sites->by_frames == NULL || sites->by_registers == NULL || sites->site == NULL ||
        sites->known == NULL || spaces_open(&sites->spaces) != 0) {
        sites_free(sites);
        return NULL;
    }
    unwinder_open(&sites->unwinder, &sites->spaces, &reason);
    memcpy(sites->without, reason.text,
           sizeof reason.text < sizeof sites->without ? sizeof reason.text : sizeof sites->without);
    return sites;
}

void sites_free(struct sites *sites) {
    if (sites == NULL) {
        return;
    }
    unwinder_close(&sites->unwinder);
    spaces_close(&sites->spaces);
    for (size_t i = 0; sites->site != NULL && i < sites->count; i++) {
        free(sites->site[i].frames);
    }
    for (size_t i = 0; sites->known != NULL && i < sites->known_count; i++) {
        free(sites->known[i].words);
    }
    free(sites->site);
    free(sites->known);
    free(sites->by_frames);
    free(sites->by_registers);
    free(sites);
}

/* Source: FNV-1a, a word at a time, with the mixing of splitmix64. */
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
    hash ^= hash >> 30;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ (hash >> 27);
}

/* Of registers that name code or the stack: the others hold data, on which no unwinding depends. */
static uint64_t hash_registers(const struct sites *sites, const struct user_stack *stack,
                               const struct space *space) {
    uint64_t hash = 1;
    for (int i = 0; i < REGISTERS; i++) {
        uint64_t word = 0;
        bool names = unwind_translate(&sites->unwinder, stack, space, stack->registers[i], &word);
        hash = mix(hash, names ? word : 0);
    }
    return hash;
}

static const struct known *recognise(const struct sites *sites, const struct user_stack *stack,
                                     const struct space *space, uint64_t registers) {
    uint32_t next = sites->by_registers[registers % SLOTS];
    while (next != 0) {
        const struct known *known = &sites->known[next - 1];
        if (known->registers == registers && (known->bytes == 0 || known->bytes == stack->bytes) &&
            unwind_would_read(&sites->unwinder, stack, space, known->words, known->words + known->count,
                              known->count)) {
            return known;
        }
        next = known->next;
    }
    return NULL;
}

static void remember(struct sites *sites, uint64_t registers, const struct user_stack *stack,
                     const struct unwind_words *words, int32_t site) {
    if (!words->whole || sites->known_count == SITES_MOST_KNOWN) {
        return;
    }
    uint64_t *copy = malloc((2 * words->count + 1) * sizeof *copy);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, words->address, words->count * sizeof *copy);
    memcpy(copy + words->count, words->word, words->count * sizeof *copy);
    uint32_t *first = &sites->by_registers[registers % SLOTS];
    sites->known[sites->known_count++] = (struct known){.registers = registers,
                                                        .bytes = words->failed ? stack->bytes : 0,
                                                        .words = copy,
                                                        .count = words->count,
                                                        .site = site,
                                                        .next = *first};
    *first = (uint32_t)sites->known_count;
}

static bool is_site(const struct site *site, const struct unwound *unwound) {
    return site->count == unwound->count && site->end == unwound->end &&
           memcmp(site->frames, unwound->frames, unwound->count * sizeof *unwound->frames) == 0;
}

/* The place of the site with these frames, which is made where it is new. */
static int32_t place_of(struct sites *sites, const struct unwound *unwound) {
    uint64_t hash = (uint64_t)unwound->end + 1;
    for (size_t i = 0; i < unwound->count; i++) {
        hash = mix(hash, unwound->frames[i]);
    }
    size_t slot = hash % SLOTS;
    while (sites->by_frames[slot] != 0) {
        int32_t place = (int32_t)sites->by_frames[slot] - 1;
        if (is_site(&sites->site[place], unwound)) {
            return place;
        }
        slot = (slot + 1) % SLOTS;
    }
    size_t bytes = unwound->count * sizeof *unwound->frames;
    uint64_t *frames = sites->count < SITES_MOST ? malloc(bytes) : NULL;
    if (frames == NULL) {
        return SITE_TOO_MANY;
    }
    memcpy(frames, unwound->frames, bytes);
    sites->site[sites->count] =
        (struct site){.frames = frames, .count = (uint32_t)unwound->count, .end = unwound->end};
    sites->by_frames[slot] = (uint32_t)++sites->count;
    return (int32_t)sites->count - 1;
}

static bool may_unwind(struct sites *sites, uint64_t now_ns) {
    if (now_ns / SECOND_NS != sites->second) {
        sites->second = now_ns / SECOND_NS;
        sites->in_second = 0;
    }
    return sites->in_second++ < SITES_MOST_A_SECOND;
}

static int32_t find(struct sites *sites, pid_t process, const struct stack_copy *copy, uint64_t now_ns) {
    struct unwound unwound;
    struct unwind_words words;
    struct user_stack stack = {.memory = copy->memory, .bytes = copy->bytes};
    if (copy->abi != REGISTERS_WIDE) {
        return copy->abi == REGISTERS_NARROW ? SITE_NARROW : SITE_NO_STACK;
    }
    memcpy(stack.registers, copy->registers, sizeof stack.registers);
    if (spaces_of(&sites->spaces, process) == NULL && !spaces_read(&sites->spaces, process)) {
        return SITE_NO_SPACE;
    }
    const struct space *space = spaces_of(&sites->spaces, process);
    uint64_t registers = hash_registers(sites, &stack, space);
    const struct known *known = recognise(sites, &stack, space, registers);
    if (known != NULL) {
        sites->recognised++;
        return known->site;
    }
    if (!may_unwind(sites, now_ns)) {
        return SITE_TOO_MANY;
    }
    unwind(&sites->unwinder, &stack, space, &unwound, &words);
    sites->unwound++;
    if (unwound.count == 0) {
        return SITE_NO_SPACE;
    }
    int32_t site = place_of(sites, &unwound);
    if (site >= 0) {
        remember(sites, registers, &stack, &words, site);
    }
    return site;
}

int32_t sites_find(struct sites *sites, pid_t process, const struct stack_copy *copy, uint64_t now_ns) {
    int32_t site = find(sites, process, copy, now_ns);
    if (site < 0) {
        sites->missing[-site]++;
    } else {
        sites->site[site].times++;
    }
    return site;
}
