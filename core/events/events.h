/* The kernel's events about tasks, from bytes to facts: pure, and so tested where the kernel refuses to tell.
 * Layouts: perf_event_open(2) and the format files of the tracepoints, which differ between kernels.
 *
 * How to use the layer (rings.h has the kernel-facing half):
 *
 *     struct rings rings;
 *     rings_open(&rings, RINGS_TASKS | RINGS_CALLS, bytes_per_cpu, &reason);   or -errno and the reason
 *     ... start what is to be watched, rings_drain(&rings, take, context) now and then ...
 *     rings_stop(&rings), rings_drain, rings_lost (never forget to look at it), rings_close
 *
 * Each CPU has one ring; `take` gets the events of one ring in order, and then those of the next one: order
 * them by time (collect.h does, and keeps those of a process and all it made). */
#ifndef CLONOMETER_EVENTS_EVENTS_H
#define CLONOMETER_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/counters.h"

enum event_kind {
    EVENT_CALL_ENTER,   /* number, six arguments */
    EVENT_CALL_EXIT,    /* number, result */
    EVENT_NEW_TASK,     /* the new task, clone flags without the exit signal; in its creator */
    EVENT_WAKE,         /* the woken task, its CPU; in its waker */
    EVENT_WAKE_NEW,     /* the same of a task that has not run yet */
    EVENT_SWITCH,       /* the task that leaves, its state, the one that comes, two words of its name */
    EVENT_FAULT_USER,   /* address, instruction, error code; user code has touched memory */
    EVENT_FAULT_KERNEL, /* the same; the kernel has, on behalf of the task */
    EVENT_EXEC,         /* the task's former number; the file's name, as a text */
    EVENT_EXIT,         /* the task begins to leave */
    EVENT_MINOR_FAULT,  /* address; the kernel is done with it, nothing was read from a disk */
    EVENT_MAJOR_FAULT,  /* the same, something was */
    EVENT_SAMPLE,       /* a call stack, as words */
    EVENT_SWITCHED_OUT, /* of an own task, without tracepoints: 1 where it was preempted */
    EVENT_SWITCHED_IN,
    EVENT_FUTEX,       /* address, operation, value: what a call of futex is about, after its entry */
    EVENT_LOCK_WANTED, /* 1: to write; the task asks for the lock of an address space */
    EVENT_LOCK_GOT,    /* the same, and 1 where it has it */
    EVENT_MEMORY, /* of a call that was entered: place and length of what an argument points to, as a text;
                     which argument */
    EVENT_FAULTS_LEFT_OUT, /* from here on a run of page faults of this task was too long to note (program.h)
                            */
    EVENT_WAKING,          /* the task that is made runnable; in its waker */
    EVENT_CLONE_ENTER, /* number, flags with the exit signal, stack (0: the creator's own) of a call of clone
                        */
    EVENT_MARK,   /* which of the places of a program's file that were asked for (fast.h); in user code */
    EVENT_COUNTS, /* right behind the event at which counters were read: ns enabled, ns running, values */
    EVENT_STACK,  /* number of a call that is entered; registers and user stack are beside it */
    EVENT_MAPPED, /* start, length, place in the file, device, number of the file; its name, as a text: code
                     was mapped */
    EVENT_IMAGE,  /* the process begins another program, and has nothing mapped of the last one */
    EVENT_FORKED, /* process, parent's process, thread; as this pid namespace numbers them */
    EVENT_LEFT,   /* the same of a task that leaves */
    EVENT_MOVED,  /* hierarchy, task; the control group that it is moved to, as a text */
    EVENT_KINDS
};

/* The last value of a note says, until collection_name_tasks, that it names tasks by pointers; its task is
 * often unknown so long. */
enum { EVENT_VALUES = 7, EVENT_BY_POINTER = EVENT_VALUES - 1, EVENT_TASK_UNKNOWN = -1 };

struct trace_event {
    uint64_t time_ns; /* on the clock that the rings were opened with */
    int32_t task;     /* the task at work, as the kernel numbers it; 0: none, or an idle CPU */
    int32_t process;  /* its process and itself as this pid namespace numbers them; 0 and -1: gone, or */
    int32_t thread;   /* not in it */
    uint16_t cpu;
    uint16_t kind;
    int64_t values[EVENT_VALUES];
};

/* Where a field of a tracepoint's record is. */
struct field {
    uint32_t at;
    uint32_t bytes;
    bool is_signed;
    bool is_text; /* what is at `at` says where the text is and how long (__data_loc) */
};

enum { EVENT_MOST_FIELDS = 4 };

struct event_format {
    size_t fields;
    struct field field[EVENT_MOST_FIELDS];
    size_t counters; /* how many are read at each record, before its fields; 0: none */
};

/* The tracepoints that are listened to, and which of their fields become values, in this order; arrays fill
 * several. */
struct event_source {
    const char *tracepoint; /* "sched/sched_switch"; NULL: an event without a tracepoint */
    const char *fields[EVENT_MOST_FIELDS];
};

extern const struct event_source EVENT_SOURCES[EVENT_KINDS];

/* The name by which answers call a kind ("call_enter"). */
const char *event_kind_name(enum event_kind kind);

/* Reads a tracepoint's `format` file. 0, or -EINVAL where one of `names` is missing or malformed. */
int event_format_read(const char *text, const char *const *names, struct event_format *format);

/* Every event is opened with this sample type, so that records have one layout; samples of a clock also have
 * a call chain. */
enum {
    RECORD_ID = 1U << 16,
    RECORD_TID = 1U << 1,
    RECORD_TIME = 1U << 2,
    RECORD_ADDRESS = 1U << 3,
    RECORD_READ = 1U << 4,
    RECORD_CALLCHAIN = 1U << 5,
    RECORD_RAW = 1U << 10,
    RECORD_REGISTERS = 1U << 12,
    RECORD_USER_STACK = 1U << 13,
    RECORD_PLAIN = RECORD_ID | RECORD_TID | RECORD_TIME | RECORD_ADDRESS | RECORD_RAW,
    RECORD_STACK = RECORD_ID | RECORD_TID | RECORD_TIME | RECORD_ADDRESS | RECORD_CALLCHAIN,
};

enum { REGISTERS_NONE, REGISTERS_NARROW /* a 32-bit program */, REGISTERS_WIDE };

enum record_kind { RECORD_EVENT, RECORD_LOST, RECORD_OTHER, RECORD_BAD };

/* What a record holds beside its numbers; points into the record. */
struct record_rest {
    const char *text; /* not ended by NUL */
    size_t text_bytes;
    const unsigned char *stack; /* 64-bit words, innermost first, with PERF_CONTEXT marks */
    size_t stack_words;
    uint64_t lost;
    size_t counters; /* of the reading; 0: there is none */
    struct reading reading;
    uint64_t abi; /* of EVENT_STACK: REGISTERS_WIDE, or another: then there are no registers */
    const unsigned char *registers; /* 64-bit words, in the order of perf's bits (registers.h) */
    const unsigned char *memory;    /* the user stack from its pointer on */
    size_t memory_bytes;
    const unsigned char *build_id; /* of EVENT_MAPPED, in the place of device and number */
    size_t build_id_bytes;
};

/* The identifier in a record, by which the rings know its kind; 0 where it has none. */
uint64_t record_identifier(const unsigned char *record, size_t length);

/* The event that follows one at which counters were read. */
struct trace_event counts_event(const struct trace_event *event, const struct reading *reading);

/* One record of a ring. `kind` and `format` are those of its identifier. `event` gets everything but `cpu`.
 */
enum record_kind record_decode(const unsigned char *record, size_t length, enum event_kind kind,
                               const struct event_format *format, struct trace_event *event,
                               struct record_rest *rest);

/* The record at `*tail`, which is moved behind it: in the ring itself, or in `spare` where it goes over the
 * ring's end. NULL where there is none, or one that cannot be whole, which ends the ring and raises
 * `*damaged`. */
const unsigned char *ring_next(const unsigned char *ring, size_t ring_bytes, uint64_t *tail, uint64_t head,
                               unsigned char *spare, size_t capacity, size_t *length, uint64_t *damaged);

#endif
