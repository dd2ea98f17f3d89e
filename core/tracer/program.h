/* The programs that note events in the kernel, and the records that they leave: pure. A program takes the
 * time, the task and the CPU, and stores them with some fields in the CPU's own part of one shared memory. */
#ifndef CLONOMETER_TRACER_PROGRAM_H
#define CLONOMETER_TRACER_PROGRAM_H

#include <stdbool.h>

#include "events/events.h"

enum {
    NOTE_BYTES = 64,
    NOTE_VALUES = 5,
    NOTES_HEAD_BYTES = 64 /* of each CPU: how many notes it has made, or was to make, whether the next exit of
                             a call is one, and its run of faults */
};

/* The shared memory: a head for each CPU, then the notes of one CPU after those of the other. */
struct program_layout {
    unsigned cpu_bits;  /* room for 2^this CPUs */
    unsigned note_bits; /* 2^this notes a CPU; the next ones overwrite the oldest */
    unsigned most_run;  /* of page faults of one task at neighbouring addresses no more than this are noted,
                           one after the other; then EVENT_FAULTS_LEFT_OUT, and none. 0: all */
    bool no_fetch;      /* before Linux 5.12 a place cannot be taken in one instruction: program_displaced */
};

size_t program_memory_bytes(const struct program_layout *layout);

/* Which way the kernel calls a program, and so where its fields are. */
enum program_type {
    PROGRAM_RAW,        /* raw tracepoint: its arguments as they are; tasks are pointers */
    PROGRAM_TRACEPOINT, /* the record of the tracepoint, as its format says */
    PROGRAM_PERF,       /* the end of a page fault: its address */
    PROGRAM_UPROBE      /* a place in user code: its number */
};

struct program_wish {
    enum event_kind kind;
    enum program_type type;
    bool asks_task;                    /* switches are not noted, which would tell who is at work */
    bool main_only;                    /* of the calls only those that make, run, await and end tasks */
    const struct event_format *format; /* of a PROGRAM_TRACEPOINT */
    int address_at;                    /* of the address in what a PROGRAM_PERF is called with */
    int mark;                          /* the number of a PROGRAM_UPROBE */
};

/* The way that costs a traced launch least. */
enum program_type program_type(enum event_kind kind);

struct writer; /* events/assemble.h */

/* Writes a program. `map`: descriptor of the shared memory. */
void program_build(struct writer *to, const struct program_wish *wish, const struct program_layout *layout,
                   int map);

/* Note `index` of a CPU. Most do not know their task, and those of raw tracepoints name others by pointers:
 * collection_name_tasks (collect.h) makes the usual events of them. */
void program_note(const unsigned char *memory, const struct program_layout *layout, unsigned cpu,
                  uint64_t index, struct trace_event *event);

/* How many faults of long runs a CPU has not noted. */
uint64_t program_left_out(const unsigned char *memory, unsigned cpu);

/* How many of a CPU's notes another note was written over, since both had been given one place; only where
 * `no_fetch` is set. */
uint64_t program_displaced(const unsigned char *memory, unsigned cpu);

/* A program that does nothing, which a kernel refuses if it cannot take a place in one instruction. */
void program_build_test(struct writer *to);

/* How many notes a CPU has made; those beyond 2^note_bits have overwritten the first ones. */
uint64_t program_notes(const unsigned char *memory, unsigned cpu);

#endif
