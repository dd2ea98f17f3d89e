/* trace_by_perf on the rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "events/gated.h"
#include "events/rings.h"
#include "tracer/collect.h"
#include "tracer/trace.h"

enum { RING_BYTES = 512 << 10, STEP_NS = 1000000 };

static void note_tasks(struct collection *collection, pid_t creator, struct trace *trace) {
    if (collection_order(collection) != 0) {
        trace->lost += collection->count;
        return;
    }
    for (size_t i = 0; i < collection->count; i++) {
        const struct trace_event *event = &collection->events[i];
        if (event->kind == EVENT_NEW_TASK && event->process == creator) {
            trace_note(trace, &(struct new_task){.creator = creator,
                                                 .tid = (int32_t)event->values[0],
                                                 .flags = (uint64_t)event->values[1]});
        }
    }
}

int trace_by_perf(char **arguments, struct trace *trace, struct reason *reason) {
    struct rings rings = {.count = 0};
    struct collection collection = {.events = NULL};
    memset(trace, 0, sizeof *trace);
    int error = rings_open(&rings, RINGS_TASKS, RING_BYTES, CLOCK_MONOTONIC, reason);
    if (error != 0) {
        return error;
    }
    rings_start(&rings);
    const struct gated_words words = {.arguments = arguments, .ends_with_starter = true};
    struct gated gated;
    error = gated_start(&words, &gated);
    pid_t pid = gated.pid;
    error = error != 0 ? error : gated_release(&gated);
    if (error != 0) {
        (void)gated_kill(&gated);
        rings_close(&rings);
        return reason_set(reason, error, "%s cannot be started: %s", arguments[0], strerror(-error));
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        struct timespec pause = {.tv_nsec = STEP_NS};
        rings_drain(&rings, collection_take, &collection);
        nanosleep(&pause, NULL);
    }
    error = ended < 0 ? -errno : 0;
    rings_stop(&rings);
    rings_drain(&rings, collection_take, &collection);
    trace->lost = rings_lost(&rings) + collection.dropped;
    note_tasks(&collection, pid, trace);
    collection_free(&collection);
    rings_close(&rings);
    if (error != 0) {
        return reason_set(reason, error, "the exit status of %s cannot be read: %s", arguments[0],
                          strerror(-error));
    }
    trace->exit_status = gated_take(&gated, status);
    return 0;
}
