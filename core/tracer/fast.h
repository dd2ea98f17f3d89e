/* Events noted by programs that run in the kernel (bpf(2)): a fifth of what a record of a perf ring costs the
 * traced launch, which is what keeps the traced launch like an untraced one. Needs CAP_BPF and CAP_PERFMON,
 * or root, and Linux 5.5; where there is none of it, rings.h does the same for more. Everything goes when
 * its descriptors are closed, also when this process is killed. */
#ifndef CLONOMETER_TRACER_FAST_H
#define CLONOMETER_TRACER_FAST_H

#include "events/rings.h"
#include "tracer/program.h"

enum { FAST_MOST_PROGRAMS = 32, FAST_MOST_MARKS = 4 };

/* Places in a program's file at which its tasks are noted as they come there (uprobes). */
struct fast_marks {
    char file[1024];
    uint64_t offsets[FAST_MOST_MARKS]; /* in the file */
    bool returns[FAST_MOST_MARKS];     /* where the function that begins there returns to its caller */
    int count;
    char refused[160]; /* why there are none; "": there are, or none were wanted */
};

/* A program and where it is attached. */
struct fast_tap {
    int program;
    enum program_type type;
    const char *raw;  /* the raw tracepoint's name; NULL: it is attached to a perf event */
    uint32_t type_of; /* the perf event */
    uint64_t config;
    uint64_t config1;
    uint64_t config2;
};

struct fast {
    int map;
    const char *root; /* of /sys, set before opening; NULL: the machine's own */
    long cpus;        /* one more than the highest number of one */
    unsigned char *memory;
    size_t bytes;
    struct program_layout layout;
    uint64_t whole_from_ns; /* older notes of some CPU have been overwritten; known after fast_stop */
    uint64_t left_out;      /* page faults of long runs */
    struct fast_marks marks;
    bool main_only;
    bool asks_tasks;
    bool by_record; /* tasks are named by records: this kernel's raw tracepoints do not tell enough */
    struct fast_tap taps[FAST_MOST_PROGRAMS];
    size_t tap_count;
    int *attached;
    size_t attached_count;
    size_t attached_room;
};

/* Starts noting all that `wanted` asks for but exec, whose text no program here reads; of long runs of page
 * faults only the first `most_run` (0: all). `marks` (NULL: none) that cannot be are left out, and say why.
 * 0, or -errno with the reason, and then nothing is attached. */
int fast_open(struct fast *fast, unsigned wanted, size_t bytes_per_cpu, unsigned most_run,
              const struct fast_marks *marks, struct reason *reason);

/* Ends it for a while: nothing is attached, and no system call takes a longer way for it. And goes on with
 * it: 0, or -errno, and then nothing is attached. */
void fast_pause(struct fast *fast);
int fast_resume(struct fast *fast);

/* Ends it and gives every event to `take`, oldest first for each CPU; returns how many there was no room for.
 * Then they have yet to be ordered and named (collect.h). */
uint64_t fast_stop(struct fast *fast, rings_take *take, void *context);

/* How many events came while a program was at work on the same CPU, as one in an interrupt may, and were not
 * noted: more room would not help. Those that came between were noted, each in a place of its own. */
uint64_t fast_missed(const struct fast *fast);

void fast_close(struct fast *fast);

#endif
