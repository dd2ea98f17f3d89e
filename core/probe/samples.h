/* Memory for samples: shared and populated before anything is measured, because private sample memory would
 * be part of the page tables that the measured fork copies, and an unpopulated one would fault in the
 * interval. */
#ifndef CLONOMETER_SAMPLES_H
#define CLONOMETER_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What every row begins with; each kind of workload goes on with fields of its own. Times are raw clock
 * ticks, turned into durations when they are sent. */
struct sample {
    uint64_t before; /* the stamp before the call, or before whatever else is timed */
    int32_t cpu_before;
    int32_t cpu_after;
    int32_t cpu_child; /* -1: none */
    int16_t error;     /* 0, or the errno of a launch that failed */
    int16_t launcher;  /* which of several launchers made it */
};

/* A row of a launch. One cache line. */
enum { SAMPLES_LINE_BYTES = 64 };
struct launch_row {
    _Alignas(SAMPLES_LINE_BYTES) struct sample sample;
    uint64_t call_returns; /* 0: none, as of all stages */
    uint64_t task_runs;
    uint64_t image_runs;
    uint64_t reaped;
    uint32_t additions_before; /* sense_additions right before and after; 0: none */
    uint32_t additions_after;
};
_Static_assert(sizeof(struct launch_row) == SAMPLES_LINE_BYTES, "one launch dirties one cache line");

static inline struct launch_row *launch_row(struct sample *sample) {
    return (struct launch_row *)(void *)sample;
}

/* A row of a workload that times nothing but one thing. */
struct timed_row {
    struct sample sample;
    uint64_t ticks;
};

/* What the new task writes: one page of a memory file, so that it costs the child one fault and an exec'd
 * program can reach it too. Each launcher has its own. */
struct stamps {
    /* Of the new task, or of one that was woken. Ticks and CPU lie side by side: a task that has no mapping
     * of this page writes them with one call. */
    uint64_t task_ticks;
    int32_t task_cpu;
    int32_t child_error;
    /* struct image_stamps of targets/stamps.h */
    uint64_t image_entered_ticks;
    uint64_t image_ticks;
    uint64_t image_ends_ticks;
    int32_t image_cpu;
    int32_t ready; /* of teardown.kill: 1 as soon as the child has its memory */
    /* What a child tells beyond its first stamp: its last one before it exits (teardown.exit, namespaces.*),
     * or how long its stamp took (launch.stamp). */
    uint64_t extra_ticks;
};

/* One mapping for everything the probe writes while it measures, since each mapping more would be a VMA that
 * the measured fork duplicates. The stamp page comes first. */
struct arena {
    int fd; /* its memory file, inherited through exec; where there can be none, why: -errno */
    unsigned char *memory;
    size_t length;
    size_t mapped; /* bytes of address space, which may be more */
    size_t used;
    size_t populated; /* bytes from the start */
    size_t page_bytes;
    size_t stamp_bytes; /* of the stamp pages, once taken */
};

/* One launcher's stamps. */
enum { STAMP_PAGE_BYTES = 4096 };

/* Maps an arena with room for `length` bytes beside a page for the stamps. 0 or -errno.
 * `may_fill_hole`: it may take up the whole hole between the program and its heap, however large. The kernel
 * keeps areas and the holes between them in a tree of nodes with room for 16 (linux/maple_tree.h, which fork
 * copies). A static program fills one; an area anywhere else, which splits a hole, makes them three nodes,
 * and cutting it out of the child's copy moves half of one: 1.2 us of a fork's 70. */
int arena_map(struct arena *arena, size_t length, bool may_fill_hole);

/* Makes the pages up to `end` (NULL: all) writable, so that none faults in an interval. They hold zeros:
 * nobody may have written to them before. */
void arena_populate(struct arena *arena, const void *end);

/* Keeps the arena out of forked children: duplicating one shared mapping costs a small fork 2%. A child that
 * stamps nothing and reports nothing does not need the stamp page either. 0 or -errno. */
int arena_keep_from_children(const struct arena *arena, bool stamp_page_too);

/* Takes `length` zeroed bytes, aligned to a cache line; NULL when the arena is used up. What is taken first
 * are the stamp pages. */
void *arena_take(struct arena *arena, size_t length);

#endif
