/* Listening to the kernel while the probe launches: two ways with one answer. */
#ifndef CLONOMETER_TRACE_H
#define CLONOMETER_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "events/decode.h"

enum { TRACE_MOST_TASKS = 4096 };

struct trace {
    struct new_task tasks[TRACE_MOST_TASKS]; /* in the order in which they were made */
    size_t count;
    uint64_t lost;   /* records that the kernel could not keep, and tasks beyond the room */
    int exit_status; /* of the program; 128 and more: a signal ended it */
};

/* Both start `arguments` and note every task that it makes until it has ended. 0, or -errno with the reason,
 * and then nothing was started or it has been ended. */

/* By the tracepoint task:task_newtask on every CPU: all threads of the program, its own timing undisturbed
 * but for a record a launch. Needs tracefs (tracefs.h), and CAP_PERFMON or a low
 * perf_event_paranoid. */
int trace_by_perf(char **arguments, struct trace *trace, struct reason *reason);

/* By ptrace, which stops the program at every system call: its first thread only, and without privileges. */
int trace_by_ptrace(char **arguments, struct trace *trace, struct reason *reason);

/* Adds a task to the list. */
void trace_note(struct trace *trace, const struct new_task *task);

#endif
