/* By tracepoints on every CPU: a record a task made, a program begun, a task that leaves, and two for each
 * call that makes tasks or programs. Rings of several CPUs are read one after the other, so an event is taken
 * only when all that came before it must have been read: when it is older than the last reading. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "census/census.h"
#include "census/growth.h"
#include "census/roots.h"
#include "trace/rings.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same number on all architectures */
#endif

enum { FIRST_ROOM = 1024, PAUSE_MS = 100, READINGS_AT_END = 2 };

static const char *const CALLS[] = {"clone", "clone3", "fork", "vfork", "execve", "execveat", NULL};

/* What listens stays until the answer has been given: census_forget. */
static struct rings everywhere;
static struct growth growth = {.rings = &everywhere};

struct pending {
    struct census_event *events;
    size_t count;
    size_t room;
    struct roots *roots;
    struct family *family;
    int error;
};

/* The program and what it has made already are known to us by the numbers of our namespace; the kernel's own
 * stand in their events, of which the first one is enough. */
static void adopt(struct pending *pending, const struct trace_event *event) {
    char program[CENSUS_PATH_BYTES] = "";
    if (!roots_have(pending->roots, event->thread)) {
        return;
    }
    roots_program(pending->roots, event->thread, program, sizeof program);
    roots_remove(pending->roots, event->thread);
    int error = family_adopt(pending->family, event->task, program);
    pending->error = error != 0 ? error : pending->error;
}

static bool translate(const struct trace_event *event, const struct record_rest *rest,
                      struct census_event *out) {
    *out = (struct census_event){
        .time_ns = event->time_ns, .task = event->task, .here = event->thread, .number = event->values[0]};
    switch (event->kind) {
    case EVENT_CALL_ENTER:
        out->kind = CENSUS_CALL;
        return true;
    case EVENT_CALL_EXIT:
        out->kind = CENSUS_RETURN;
        out->result = event->values[1];
        return true;
    case EVENT_NEW_TASK:
        out->kind = CENSUS_NEW_TASK;
        out->flags = (uint64_t)event->values[1];
        out->result = CENSUS_UNKNOWN;
        return true;
    case EVENT_EXEC:
        out->kind = CENSUS_EXEC;
        snprintf(out->path, sizeof out->path, "%.*s", (int)rest->text_bytes,
                 rest->text != NULL ? rest->text : "");
        return true;
    case EVENT_EXIT:
        out->kind = CENSUS_EXIT;
        return true;
    default:
        return false;
    }
}

static void take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct pending *pending = context;
    struct census_event translated;
    if (!translate(event, rest, &translated)) {
        return;
    }
    adopt(pending, event);
    if (pending->count == pending->room) {
        size_t room = pending->room > 0 ? 2 * pending->room : FIRST_ROOM;
        struct census_event *more = realloc(pending->events, room * sizeof *more);
        if (more == NULL) {
            pending->error = -ENOMEM;
            return;
        }
        pending->events = more;
        pending->room = room;
    }
    pending->events[pending->count++] = translated;
}

static int by_time(const void *one, const void *other) {
    const struct census_event *a = one;
    const struct census_event *b = other;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Gives the family what happened before `until_ns`. */
static void flush(struct pending *pending, uint64_t until_ns) {
    size_t done = 0;
    qsort(pending->events, pending->count, sizeof *pending->events, by_time);
    while (done < pending->count && pending->events[done].time_ns < until_ns) {
        int error = family_take(pending->family, &pending->events[done++]);
        pending->error = error != 0 ? error : pending->error;
    }
    if (done > 0) {
        memmove(pending->events, pending->events + done, (pending->count - done) * sizeof *pending->events);
    }
    pending->count -= done;
}

/* A command that is told to end is watched until it has. */
static bool over(struct census *census, struct family *family) {
    bool ended =
        census->command != NULL ? command_ended(census) : kill(census->pid, 0) != 0 && errno == ESRCH;
    if (census->ending_ns != 0) {
        return command_end(census, family);
    }
    return ended || (census_told_to_end(census) && (census->command == NULL || command_end(census, family)));
}

/* Until the program has ended, a ring is half full, or a tenth of a second is over. Whether it has ended: one
 * that nobody has waited for can be sent signals all the same. */
static bool doze(const struct rings *rings, int pidfd) {
    static struct pollfd fds[RINGS_MOST_CPUS + 1];
    for (size_t i = 0; i < rings->count; i++) {
        fds[i] = (struct pollfd){.fd = rings->ring[i].fds[0], .events = POLLIN};
    }
    fds[rings->count] = (struct pollfd){.fd = pidfd, .events = POLLIN};
    return poll(fds, (nfds_t)rings->count + 1, PAUSE_MS) > 0 && (fds[rings->count].revents & POLLIN) != 0;
}

static void watch(struct census *census, struct rings *rings, struct pending *pending) {
    /* Before Linux 5.3 there is none, and the end is noticed a little later. */
    int pidfd = (int)syscall(SYS_pidfd_open, census->pid, 0);
    uint64_t before_ns = 0;
    bool gone = false;
    while (pending->error == 0 && !over(census, pending->family) && !gone) {
        /* A command must be waited for, which over() does; what it made may take longer to end. */
        bool ended = doze(rings, census->exit_status < 0 ? pidfd : -1);
        gone = ended && census->command == NULL;
        uint64_t now_ns = census_now_ns();
        rings_drain(rings, take, pending);
        growth_look(&growth);
        flush(pending, before_ns);
        before_ns = now_ns;
    }
    census->end_ns = census_now_ns();
    if (pidfd >= 0) {
        close(pidfd);
    }
    rings_stop(rings);
    for (int i = 0; i < READINGS_AT_END; i++) {
        rings_drain(rings, take, pending);
    }
    flush(pending, UINT64_MAX);
    census->lost = rings_lost(rings);
    census->grown = growth.times;
    census->ring_bytes = rings_largest(rings);
}

static int open_all(const struct census *census, struct reason *reason) {
    int error = rings_open(&everywhere, RINGS_TASKS, census->ring_bytes, CLOCK_MONOTONIC, reason);
    return error != 0 ? error : rings_add_calls(&everywhere, CALLS, reason);
}

static int begin(struct census *census, struct pending *pending, int *release) {
    census->begin_ns = census_now_ns();
    pending->family = family_new(census->begin_ns, tell_task, census);
    if (pending->family == NULL || pending->roots == NULL) {
        return -ENOMEM;
    }
    if (census->command == NULL) {
        return roots_add_below(pending->roots, census->pid);
    }
    int error = command_start(census, release);
    return error != 0 ? error : roots_add(pending->roots, census->pid);
}

int census_by_tracepoints(struct census *census, struct family **family, struct reason *reason) {
    int release = -1;
    int error = open_all(census, reason);
    if (error != 0) {
        return error;
    }
    struct pending pending = {.roots = roots_new()};
    census->how = "tracepoints";
    error = begin(census, &pending, &release);
    *family = pending.family;
    if (error == 0) {
        rings_start(&everywhere);
        (void)tell_begin(census);
        census->begin_ns = census_now_ns();
        close(release);
        watch(census, &everywhere, &pending);
        error = pending.error;
    }
    roots_free(pending.roots);
    free(pending.events);
    return error != 0 ? reason_set(reason, error, "the census cannot be taken: %s", strerror(-error)) : 0;
}

void census_forget(void) {
    growth_end(&growth);
    rings_close(&everywhere);
}
