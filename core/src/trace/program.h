/* The programs that note events in the kernel, and the records that they leave: pure. A program takes the
 * time, the task and the CPU, and stores them with some fields in the CPU's own part of one shared memory. */
#ifndef CLONOMETER_TRACE_PROGRAM_H
#define CLONOMETER_TRACE_PROGRAM_H

#include <linux/bpf.h>

#include "trace/events.h"

enum {
    PROGRAM_MOST_INSTRUCTIONS = 96,
    NOTE_BYTES = 64,
    NOTE_VALUES = 5,
    NOTES_HEAD_BYTES = 64 /* of each CPU: how many notes it has made */
};

/* The shared memory: a head for each CPU, then the notes of one CPU after those of the other. */
struct program_layout {
    unsigned cpu_bits;  /* room for 2^this CPUs */
    unsigned note_bits; /* 2^this notes a CPU; the next ones overwrite the oldest */
};

size_t program_memory_bytes(const struct program_layout *layout);

/* Which way the kernel calls a program, and so where its fields are. */
enum program_type {
    PROGRAM_RAW,        /* raw tracepoint: those of its arguments that are numbers */
    PROGRAM_TRACEPOINT, /* the record of the tracepoint, as its format says */
    PROGRAM_PERF        /* the end of a page fault: its address */
};

enum program_type program_type(enum event_kind kind); /* as usual; a call also as PROGRAM_TRACEPOINT */

/* Writes the program for `kind`; how many instructions it has. `address_at`: of the address in what a
 * PROGRAM_PERF is called with. */
size_t program_build(struct bpf_insn *program, enum event_kind kind, enum program_type type,
                     const struct event_format *format, const struct program_layout *layout, int map,
                     int address_at);

/* Note `index` of a CPU. */
void program_note(const unsigned char *memory, const struct program_layout *layout, unsigned cpu,
                  uint64_t index, struct trace_event *event);

/* How many notes a CPU has made; those beyond 2^note_bits have overwritten the first ones. */
uint64_t program_notes(const unsigned char *memory, unsigned cpu);

#endif
