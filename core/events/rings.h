/* The kernel-facing half of listening: perf events on every CPU, one ring a CPU. Events are opened for CPUs
 * and not for a program: inherited events distort fork itself (30 to 150 us), and others would miss the
 * children. See events.h for how to use it. */
#ifndef CLONOMETER_EVENTS_RINGS_H
#define CLONOMETER_EVENTS_RINGS_H

#include <time.h>

#include "base/reason.h"
#include "events/events.h"

enum {
    RINGS_TASKS = 1U << 0,    /* new tasks, exec, exit: a record a launch, for a census */
    RINGS_SCHED = 1U << 1,    /* wake-ups and switches */
    RINGS_CALLS = 1U << 2,    /* entry and exit of system calls */
    RINGS_FAULTS = 1U << 3,   /* page faults, entry with cause and end */
    RINGS_SAMPLES = 1U << 4,  /* kernel stacks by a clock */
    RINGS_EXEC = 1U << 5,     /* only the names of programs */
    RINGS_MAIN = 1U << 6,     /* of the calls only those that make, run, await and end tasks (fast.h) */
    RINGS_FUTEX = 1U << 7,    /* what calls of futex are about */
    RINGS_LOCKS = 1U << 8,    /* waiting for the lock of an address space (mmap_lock) */
    RINGS_WAKING = 1U << 9,   /* tasks that are made runnable, at that moment: for a census */
    RINGS_SPACES = 1U << 10,  /* what becomes of address spaces */
    RINGS_CGROUPS = 1U << 11, /* who is moved to another control group */
};

enum { RINGS_MOST_EVENTS = 24, RINGS_MOST_GROWTHS = 6 };

/* Records that the kernel writes and we read. */
struct ring_memory {
    int owner;  /* an event that counts nothing: others can be sent elsewhere while they are at work, but not
                   the one whose memory is in use */
    void *page; /* struct perf_event_mmap_page; the ring begins on the next page */
    size_t bytes;
};

struct ring {
    int fds[RINGS_MOST_EVENTS];
    uint64_t identifiers[RINGS_MOST_EVENTS];
    enum event_kind kinds[RINGS_MOST_EVENTS];
    size_t events;
    int cpu;                        /* -1: follows a task */
    int counter_fds[COUNTERS_MOST]; /* the group that is read at every event */
    size_t counters;
    struct ring_memory
        memory[1 + RINGS_MOST_GROWTHS]; /* the last one is written; the others may have a rest */
    size_t memories;
    bool nearly_full; /* when it was last read: it is too small, or is read too seldom */
    bool given_up;    /* it is not made larger any more (growth.h) */
};

struct rings {
    struct event_format formats[EVENT_KINDS];
    size_t page_bytes;
    size_t ring_bytes; /* that each begins with, where that much is given */
    clockid_t clock;
    uint64_t sample_period_ns;
    size_t stack_bytes;            /* of each user stack, set before opening: at most so much is copied */
    const struct counter_set *set; /* what to read at every event, set before opening; NULL: nothing */
    const char *root;              /* of /sys, set before opening; NULL: the machine's own */
    size_t counters;               /* how many of the set are read */
    const struct counter *counted[COUNTERS_MOST];
    char refused[COUNTERS_MOST][160]; /* of each in the set why it is not; "": it is */
    size_t count;
    struct ring *ring;
    bool counts_losses;   /* the kernel knows how many events it had no room for (Linux 6.0) */
    uint64_t lost;        /* told by records, so far */
    uint64_t whole_to_ns; /* later events of some CPU were lost while a ring was full; 0: none were */
    uint64_t overfull;    /* readings that found no room, where the kernel does not count losses */
    uint64_t damaged;     /* records that could not be read */
};

/* Opens what `wanted` asks for, system-wide, stopped; rings_start starts it. `ring_bytes` a CPU, rounded up
 * to a power of two of pages; less where the limits of locked memory give less. Needs tracefs (tracefs.h) and
 * CAP_PERFMON, root, or perf_event_paranoid at -1. 0, or -errno with the reason, and then nothing is open. */
int rings_open(struct rings *rings, unsigned wanted, size_t ring_bytes, clockid_t clock,
               struct reason *reason);

/* What an unprivileged user may know of a task of his own: its switches and its page faults in user code. */
int rings_open_own(struct rings *rings, int thread, size_t ring_bytes, clockid_t clock,
                   struct reason *reason);

/* Adds entry and exit of the system calls with these names alone, as EVENT_CALL_ENTER (only the number),
 * of clone as EVENT_CLONE_ENTER, and EVENT_CALL_EXIT; not beside RINGS_CALLS. Other calls then cost a task
 * next to nothing, where RINGS_CALLS makes each write two records. A call that this architecture lacks is
 * left out. 0, or -errno with the reason, and then the rings are closed. */
int rings_add_calls(struct rings *rings, const char *const *names, struct reason *reason);

/* Adds the entry of the system calls with these names as EVENT_STACK, which has the user stack. Where the
 * same entry is listened to as well, events that are started later are written first: so the time of the
 * other does not contain what it takes to copy the stack. 0, or -errno with the reason, and the rings are
 * closed. */
int rings_add_stacks(struct rings *rings, const char *const *names, struct reason *reason);

void rings_start(const struct rings *rings);
void rings_stop(const struct rings *rings);

/* Gives every event that is in the rings to `take`, oldest first within each ring. */
typedef void rings_take(void *context, const struct trace_event *event, const struct record_rest *rest);
void rings_drain(struct rings *rings, rings_take *take, void *context);

/* How many events the kernel had no room for, and records that could not be read; at least as many, before
 * Linux 6.0. */
uint64_t rings_lost(const struct rings *rings);

/* Gives a ring `factor` times the room while it is at work; nothing is missed by that. Takes an RCU grace
 * period an event (0.1 s or more together), and may be done by another thread than the one that drains. 0;
 * -ENOSPC where it is as large as it may be (RINGS_MOST_BYTES, and all of them a sixteenth of the machine's
 * memory); or -errno where the kernel gives no more. */
enum { RINGS_MOST_BYTES = 64 << 20 };
int rings_grow(struct rings *rings, size_t index, size_t factor);

/* The room of the largest ring. */
size_t rings_largest(const struct rings *rings);

void rings_close(struct rings *rings);

/* The memory of a ring (rings_memory.c), for rings.c: as much of `ring_bytes` as the kernel gives. 0 or
 * -errno. */
int rings_give_memory(const struct rings *rings, struct ring *ring, int thread);
void rings_take_memory(const struct rings *rings, struct ring *ring);

struct perf_event_attr;

/* Counters of `set` for each CPU (groups.c): opens them, so that all that is added later joins them; leaves
 * out what the processor lacks. 0, or -errno with the reason where there is none at all. */
int groups_open(struct rings *rings, struct reason *reason);
void groups_join(const struct ring *ring, struct perf_event_attr *attributes);
int groups_leader(const struct ring *ring); /* -1: there is no group */
void groups_control(const struct ring *ring, unsigned long request);
void groups_close(struct ring *ring);

/* Whether `kind` is among what is wanted. */
bool rings_wants(unsigned wanted, enum event_kind kind);

#endif
