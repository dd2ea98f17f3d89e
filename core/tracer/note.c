#include "tracer/trace.h"

void trace_note(struct trace *trace, const struct new_task *task) {
    if (trace->count < TRACE_MOST_TASKS) {
        trace->tasks[trace->count++] = *task;
    } else {
        trace->lost++;
    }
}
