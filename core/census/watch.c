/* By tracepoints on every CPU: a record a task made, a program begun, a task that leaves, and two for each
 * call that makes tasks or programs; and of who is woken out of vfork, for which programs in the kernel look
 * (wakes.h), or a record of each wake-up is written where these are refused. An event is taken only when it
 * is older than the last reading: all that came before it must have been read (pending.h). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "census/answer.h"
#include "census/census.h"
#include "census/growth.h"
#include "census/names.h"
#include "census/pending.h"
#include "census/placing.h"
#include "census/roots.h"
#include "census/stacks.h"
#include "census/usage.h"
#include "census/wakes.h"
#include "events/pidfd.h"
#include "events/rings.h"

enum { PAUSE_MS = 100, SHORT_PAUSE_MS = 5, READINGS_AT_END = 2, EXIT_SIGNAL_BITS = 0xff };

/* How often those that outlive the program are looked at, where their end may have been lost. */
static const uint64_t LOOK_NS = 1000000000;

static const char *const CALLS[] = {"clone", "clone3", "fork", "vfork", "execve", "execveat", NULL};

/* What listens stays until the answer has been given: census_forget. */
static struct rings everywhere;
static struct wakes vforks = WAKES_CLOSED;
static struct growth growth = {.rings = &everywhere};
static struct stacks stacks;
static struct placing places;
static struct preparing preparing = PREPARING_CLOSED;
static struct usage usage = USAGE_CLOSED;
static struct pollfd *awaited; /* of each ring, and of the program */

struct watching {
    struct pending pending;
    struct roots *roots;
    struct family *family;
    struct placing *placing;  /* NULL: no control groups are watched */
    uint64_t stacks_since_ns; /* earlier calls have none */
};

/* The program and what it has made already are known to us by the numbers of our namespace; the kernel's own
 * stand in their events, of which the first one is enough. */
static void adopt(struct watching *watching, const struct trace_event *event) {
    char program[CENSUS_PATH_BYTES] = "";
    if (!roots_have(watching->roots, event->thread)) {
        return;
    }
    roots_program(watching->roots, event->thread, program, sizeof program);
    roots_remove(watching->roots, event->thread);
    int error = family_adopt(watching->family, event->task, program);
    family_place(watching->family, event->task, event->thread == event->process ? event->task : 0,
                 CENSUS_UNKNOWN);
    watching->pending.error = error != 0 ? error : watching->pending.error;
}

/* Of malloc, or NULL without memory. */
static char *name_executed(const struct trace_event *event, const struct record_rest *rest) {
    char name[CENSUS_PATH_BYTES] = "";
    name_copy(name, sizeof name, rest->text != NULL ? rest->text : "", rest->text_bytes);
    if (name_says_nothing(name) && event->process > 0) {
        /* It still runs as a rule, and tells. */
        name_of_process(event->process, name, sizeof name);
    }
    return strdup(name);
}

static bool translate(const struct trace_event *event, const struct record_rest *rest,
                      struct census_event *out) {
    *out = (struct census_event){
        .time_ns = event->time_ns,
        .task = event->task,
        .local_tid = event->thread,
        .process = event->process,
        .number = event->values[0],
        .asked = {.exit_signal = CENSUS_UNKNOWN, .own_stack = CENSUS_UNKNOWN},
    };
    switch (event->kind) {
    case EVENT_CLONE_ENTER:
        out->asked = (struct census_asked){.exit_signal = (int32_t)(event->values[1] & EXIT_SIGNAL_BITS),
                                           .own_stack = event->values[2] != 0};
        out->kind = CENSUS_CALL;
        return true;
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
    case EVENT_WAKING:
        out->kind = CENSUS_WAKE;
        return true;
    case EVENT_EXEC:
        out->kind = CENSUS_EXEC;
        out->more = name_executed(event, rest);
        out->path = out->more != NULL ? out->more : "";
        return true;
    case EVENT_EXIT:
        out->kind = CENSUS_EXIT;
        return true;
    case EVENT_MOVED:
        out->kind = CENSUS_MOVED;
        out->number = event->values[1];
        out->result = event->values[0];
        out->more = rest->text != NULL ? strndup(rest->text, rest->text_bytes) : NULL;
        return true;
    default:
        return false;
    }
}

static void take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct watching *watching = context;
    struct census_event translated;
    if (translate(event, rest, &translated)) {
        adopt(watching, event);
        pending_add(&watching->pending, &translated);
    }
}

static void take_wakes(struct watching *watching) {
    struct wake wake;
    while (wakes_next(&vforks, &wake)) {
        const struct census_event event = {
            .time_ns = wake.time_ns, .task = wake.waker, .kind = CENSUS_WAKE, .number = wake.woken};
        pending_add(&watching->pending, &event);
    }
}

static void take_preparing(struct watching *watching) {
    struct preparing_note note;
    while (preparing_next(&preparing, &note)) {
        struct census_event event = {.time_ns = note.time_ns, .task = note.task, .kind = CENSUS_DID};
        event.number = note.kind;
        if (note.kind == PREPARING_DONE) {
            event.kind = CENSUS_PREPARED;
            event.number = (int64_t)note.closes;
            event.result = (int64_t)note.handlers;
            event.flags = note.cut;
        }
        pending_add(&watching->pending, &event);
    }
}

static void take_usage(struct watching *watching) {
    struct usage_note note;
    while (usage_next(&usage, &note)) {
        const struct census_event event = {.time_ns = note.time_ns,
                                           .task = note.task,
                                           .kind = CENSUS_USED,
                                           .number = note.cpu_ns,
                                           .result = note.minor_faults,
                                           .flags = (uint64_t)note.major_faults};
        pending_add(&watching->pending, &event);
    }
}

static bool ask_usage(void *context, pid_t task, struct census_event *used) {
    struct usage_note note;
    (void)context;
    if (!usage_so_far(task, &note)) {
        return false;
    }
    *used = (struct census_event){
        .number = note.cpu_ns, .result = note.minor_faults, .flags = (uint64_t)note.major_faults};
    return true;
}

static int give(void *context, const struct census_event *event) {
    struct watching *watching = context;
    struct placing *groups = watching->placing;
    bool taken = false;
    if (event->kind == CENSUS_CALL && event->time_ns < watching->stacks_since_ns &&
        census_call_kind(event->number) == CENSUS_CALL_MAKES_TASK) {
        return 0; /* It began before the census did. */
    }
    int error = groups != NULL ? placing_before(groups, watching->family, event) : 0;
    if (error != 0) {
        return error;
    }
    error = stacks_take(&stacks, watching->family, event, &taken);
    error = taken ? error : family_take(watching->family, event);
    if (groups != NULL) {
        placing_after(groups, watching->family, event);
    }
    return error;
}

static bool is_there(void *context, pid_t task, uint64_t known_ns) {
    const struct census *census = context;
    struct root_facts facts;
    if (task == census->gated.pid) {
        return true; /* as long as nobody has waited for it */
    }
    /* Where /proc hides it, the kernel still says whether there is any with its number. */
    return roots_look(task, &facts) ? !facts.ended && facts.began_ns <= known_ns
                                    : kill(task, 0) == 0 || errno == EPERM;
}

static bool over(struct census *census, struct watching *watching, bool ended) {
    bool all = census_over(census, watching->family, ended);
    /* What it had made before the census and has been silent since is in no family yet. */
    return all && !(census->until_all_end && census->command == NULL && !census->interrupted &&
                    !census->timed_out && roots_live(watching->roots));
}

/* Without room for its end a task would be waited for in vain, and told to end whoever has its number by now.
 */
static void look_for_lost(struct census *census, struct watching *watching) {
    static uint64_t looked_ns;
    uint64_t now_ns = census_now_ns();
    bool wanted = census->outlived || census->ending_ns != 0;
    if (wanted && now_ns - looked_ns >= LOOK_NS && rings_lost(&everywhere) > 0) {
        looked_ns = now_ns;
        family_miss(watching->family, now_ns, is_there, census);
    }
}

/* Until the program has ended, a ring is half full, or a tenth of a second is over. Whether it has ended: one
 * that nobody has waited for can be sent signals all the same. While rings are made larger, poll()
 * would wait for the kernel to finish that: they are read again soon instead. */
static bool doze(int pidfd) {
    struct pollfd *fds = awaited;
    const int pause_ms = growth.running ? SHORT_PAUSE_MS : PAUSE_MS;
    size_t count = 0;
    for (size_t i = 0; i < everywhere.count && !growth.running; i++) {
        fds[count++] = (struct pollfd){.fd = everywhere.ring[i].fds[0], .events = POLLIN};
    }
    for (size_t i = 0; i < stacks.rings.count && !growth.running; i++) {
        fds[count++] = (struct pollfd){.fd = stacks.rings.ring[i].fds[0], .events = POLLIN};
    }
    fds[count] = (struct pollfd){.fd = pidfd, .events = POLLIN};
    return poll(fds, (nfds_t)count + 1, pause_ms) > 0 && (fds[count].revents & POLLIN) != 0;
}

/* A command must be waited for; of another process its descriptor tells, or that it cannot be found, or its
 * state. */
static bool has_ended(struct census *census, bool gone) {
    if (census->cgroup != NULL) {
        return false; /* A group without tasks may get others. */
    }
    if (census->command != NULL) {
        return command_ended(census);
    }
    return gone || !is_there(census, census->pid, census->begin_ns);
}

static void read_all(struct watching *watching) {
    rings_drain(&everywhere, take, watching);
    stacks_read(&stacks, &watching->pending);
    take_wakes(watching);
    take_preparing(watching);
    take_usage(watching);
}

static void watch(struct census *census, struct watching *watching) {
    /* Where there are none, the end is noticed a little later. */
    int pidfd = census->pid > 0 ? pidfd_of(census->pid) : -1;
    uint64_t before_ns = 0;
    bool ended = false;
    bool runs_already = census->command == NULL && census->cgroup == NULL;
    int64_t faults = runs_already ? usage_faults_of(census->pid) : -1;
    while (watching->pending.error == 0 && !over(census, watching, ended)) {
        bool gone = doze(ended ? -1 : pidfd);
        ended = has_ended(census, gone) || ended;
        uint64_t now_ns = census_now_ns();
        read_all(watching);
        growth_look(&growth);
        pending_flush(&watching->pending, before_ns, give, watching);
        (void)answer_send(census->answer);
        before_ns = now_ns;
        look_for_lost(census, watching);
    }
    census->end_ns = census_now_ns();
    int64_t faults_by_now = faults >= 0 ? usage_faults_of(census->pid) : -1;
    census->own_faults = faults >= 0 && faults_by_now >= faults ? faults_by_now - faults : CENSUS_UNKNOWN;
    if (pidfd >= 0) {
        close(pidfd);
    }
    rings_stop(&everywhere);
    if (stacks.sites != NULL) {
        rings_stop(&stacks.rings);
    }
    for (int i = 0; i < READINGS_AT_END; i++) {
        read_all(watching);
    }
    pending_flush(&watching->pending, UINT64_MAX, give, watching);
    if (rings_lost(&everywhere) > 0) {
        family_miss(watching->family, census->end_ns, is_there, census);
    }
    family_ask(watching->family, ask_usage, NULL);
    census->lost = rings_lost(&everywhere) + notes_lost(&vforks.notes) + notes_lost(&preparing.notes) +
                   notes_lost(&usage.notes);
    census->grown = growth.times;
    census->unplaced = places.unplaced;
    census->ring_bytes = rings_largest(&everywhere);
}

static int open_all(struct census *census, struct reason *reason) {
    unsigned wanted = RINGS_TASKS;
    struct reason without = {""};
    if (wakes_open(&vforks) != 0) {
        wanted |= RINGS_WAKING;
    }
    wanted |= census->cgroup != NULL ? RINGS_CGROUPS : 0;
    int error = rings_open(&everywhere, wanted, census->ring_bytes, CLOCK_MONOTONIC, reason);
    error = error != 0 ? error : rings_add_calls(&everywhere, CALLS, reason);
    if (error == 0 && census->sites != NULL &&
        stacks_open(&stacks, census->sites, census->ring_bytes, &without) != 0) {
        snprintf(census->without_stacks, sizeof census->without_stacks, "%s", without.text);
    }
    if (error == 0 && census->calls && preparing_open(&preparing, &without) != 0) {
        snprintf(census->without_calls, sizeof census->without_calls, "%s", without.text);
    }
    if (error == 0 && usage_open(&usage, &without) != 0) {
        snprintf(census->without_usage, sizeof census->without_usage, "%s", without.text);
    }
    awaited = error == 0 ? calloc(everywhere.count + stacks.rings.count + 1, sizeof *awaited) : NULL;
    return error == 0 && awaited == NULL
               ? reason_set(reason, -ENOMEM, "the census cannot be taken: %s", strerror(ENOMEM))
               : error;
}

static void follow(void *context, pid_t task) {
    preparing_follow(context, task);
}

static void know(void *context, pid_t process) {
    (void)spaces_read(context, process);
}

/* What the kernel tells of address spaces begins with what they map from here on. */
static void know_spaces(const struct census *census) {
    if (stacks.sites == NULL || census->cgroup != NULL) {
        return; /* Of those of groups, when they make a task. */
    }
    if (census->command != NULL) {
        spaces_begin(&stacks.sites->spaces, census->pid);
        return;
    }
    know(&stacks.sites->spaces, census->pid);
    roots_below(census->pid, know, &stacks.sites->spaces);
}

static int begin(struct census *census, struct watching *watching) {
    census->begin_ns = census_now_ns();
    watching->family = family_new(census->begin_ns, tell_task, census);
    if (watching->family == NULL || watching->roots == NULL) {
        return -ENOMEM;
    }
    if (census->without_usage[0] == '\0') {
        family_expect_usage(watching->family);
    }
    if (census->cgroup != NULL) {
        return 0;
    }
    if (census->command == NULL) {
        return roots_add_below(watching->roots, census->pid);
    }
    int error = command_start(census);
    return error != 0 ? error : roots_add(watching->roots, census->pid);
}

int census_by_tracepoints(struct census *census, struct family **family, struct reason *reason) {
    int error = open_all(census, reason);
    if (error != 0) {
        wakes_close(&vforks);
        return error;
    }
    struct watching watching = {.roots = roots_new()};
    if (census->cgroup != NULL) {
        error = placing_open(&places, census->cgroup, reason);
        watching.placing = &places;
        census->cgroups = &places.cgroups;
    }
    census->how = "tracepoints";
    error = error != 0 ? error : begin(census, &watching);
    *family = watching.family;
    if (error == 0) {
        rings_start(&everywhere);
        if (stacks.sites != NULL) {
            rings_start(&stacks.rings);
            watching.stacks_since_ns = census_now_ns();
        }
        know_spaces(census);
        if (watching.placing != NULL) {
            placing_begin(&places, follow, &preparing);
        }
        roots_each(watching.roots, follow, &preparing);
        (void)tell_begin(census);
        census->begin_ns = census_now_ns();
        error = census->command != NULL ? command_release(census) : 0;
    }
    if (error == 0 && !census->interrupted) {
        watch(census, &watching);
        error = watching.pending.error;
    }
    roots_free(watching.roots);
    pending_free(&watching.pending);
    return error != 0 ? reason_set(reason, error, "the census cannot be taken: %s", strerror(-error)) : 0;
}

void census_forget(void) {
    growth_end(&growth);
    wakes_close(&vforks);
    preparing_close(&preparing);
    usage_close(&usage);
    placing_close(&places);
    stacks_close(&stacks);
    rings_close(&everywhere);
    free(awaited);
    awaited = NULL;
}
