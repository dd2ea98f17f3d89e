#include "census/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of CENSUS_MAPPED. */
struct mapped {
    uint64_t start;
    uint64_t bytes;
    uint64_t offset;
    struct module_identity identity;
    char path[];
};

enum { RECORD_HEAD = 256 };

static const char *const CALLS[] = {"clone", "clone3", "fork", "vfork", NULL};

int stacks_open(struct stacks *stacks, struct sites *sites, size_t ring_bytes, struct reason *reason) {
    *stacks = (struct stacks){.rings = {.stack_bytes = SITES_STACK_BYTES}};
    /* A ring holds one record at least, and is better read while there is room for others. */
    size_t least = 4 * (size_t)(SITES_STACK_BYTES + RECORD_HEAD);
    int error = rings_open(&stacks->rings, RINGS_SPACES, ring_bytes > least ? ring_bytes : least,
                           CLOCK_MONOTONIC, reason);
    error = error != 0 ? error : rings_add_stacks(&stacks->rings, CALLS, reason);
    stacks->sites = error == 0 ? sites : NULL;
    return error;
}

void stacks_close(struct stacks *stacks) {
    if (stacks->sites != NULL) {
        rings_close(&stacks->rings);
    }
}

static struct stack_copy *copy_stack(const struct record_rest *rest) {
    struct stack_copy *copy = malloc(sizeof *copy + rest->memory_bytes);
    if (copy == NULL) {
        return NULL;
    }
    *copy = (struct stack_copy){.abi = rest->abi, .bytes = rest->memory_bytes};
    for (int i = 0; rest->registers != NULL && i < REGISTERS; i++) {
        memcpy(&copy->registers[REGISTERS_OF_PERF[i]], rest->registers + 8 * (size_t)i, 8);
    }
    if (rest->memory_bytes > 0) {
        memcpy(copy->memory, rest->memory, rest->memory_bytes);
    }
    return copy;
}

static struct mapped *copy_mapping(const struct trace_event *event, const struct record_rest *rest) {
    struct mapped *mapped = malloc(sizeof *mapped + rest->text_bytes + 1);
    if (mapped == NULL) {
        return NULL;
    }
    *mapped = (struct mapped){.start = (uint64_t)event->values[0],
                              .bytes = (uint64_t)event->values[1],
                              .offset = (uint64_t)event->values[2],
                              .identity = {.build_id_bytes = rest->build_id_bytes,
                                           .device = (uint64_t)event->values[3],
                                           .number = (uint64_t)event->values[4]}};
    if (rest->build_id_bytes > 0) {
        memcpy(mapped->identity.build_id, rest->build_id, rest->build_id_bytes);
    }
    memcpy(mapped->path, rest->text, rest->text_bytes);
    mapped->path[rest->text_bytes] = '\0';
    return mapped;
}

static void take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct census_event out = {.time_ns = event->time_ns,
                               .task = event->task,
                               .process = event->process,
                               .local_tid = event->thread,
                               .number = event->values[0],
                               .result = event->values[1]};
    switch (event->kind) {
    case EVENT_STACK:
        out.kind = CENSUS_STACK;
        out.more = copy_stack(rest);
        break;
    case EVENT_MAPPED:
        out.kind = CENSUS_MAPPED;
        out.more = copy_mapping(event, rest);
        break;
    case EVENT_IMAGE:
        out.kind = CENSUS_IMAGE;
        break;
    case EVENT_FORKED:
        out.kind = CENSUS_FORKED;
        break;
    case EVENT_LEFT:
        out.kind = CENSUS_LEFT;
        out.result = event->values[2];
        break;
    default:
        return;
    }
    pending_add(context, &out);
}

void stacks_read(struct stacks *stacks, struct pending *pending) {
    if (stacks->sites != NULL) {
        rings_drain(&stacks->rings, take, pending);
    }
}

static int find_site(struct sites *sites, struct family *family, const struct census_event *event) {
    if (!family_has(family, event->task) || event->more == NULL) {
        return 0;
    }
    const struct census_event site = {
        .time_ns = event->time_ns,
        .task = event->task,
        .local_tid = event->local_tid,
        .kind = CENSUS_SITE,
        .number = event->number,
        .result = sites_find(sites, event->process, event->more, event->time_ns),
    };
    return family_take(family, &site);
}

int stacks_take(struct stacks *stacks, struct family *family, const struct census_event *event, bool *taken) {
    struct spaces *spaces = stacks->sites != NULL ? &stacks->sites->spaces : NULL;
    const struct mapped *mapped = event->more;
    *taken = true;
    switch (event->kind) {
    case CENSUS_STACK:
        return find_site(stacks->sites, family, event);
    case CENSUS_MAPPED:
        if (mapped != NULL) {
            spaces_map(spaces, event->process, mapped->start, mapped->bytes, mapped->offset, mapped->path,
                       &mapped->identity);
            unwinder_meet(&stacks->sites->unwinder);
        }
        return 0;
    case CENSUS_IMAGE:
        /* Of a member that was moved to where it is watched, nothing is known before. */
        if (spaces_of(spaces, event->process) != NULL || family_has(family, event->process)) {
            spaces_begin(spaces, event->process);
        }
        return 0;
    case CENSUS_FORKED:
        spaces_fork(spaces, (pid_t)event->result, (pid_t)event->number);
        return 0;
    case CENSUS_LEFT:
        /* Other threads may still make tasks; what they have mapped can then be read. */
        if (event->number == event->result) {
            spaces_leave(spaces, (pid_t)event->number);
        }
        return 0;
    default:
        *taken = false;
        return 0;
    }
}
