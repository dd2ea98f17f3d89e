#include "census/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/assemble.h"
#include "events/bpf.h"
#include "events/btf.h"

enum { DEAD = 0x80 /* TASK_DEAD */ };
/* A note's words on the stack: the time, the task, and what it used. */
enum { NOTE_BYTES = 40, NOTE_AT = -40 };

/* How many bytes into a task's structure each figure is. */
struct places {
    int state;
    int number;
    int cpu;
    int minor_faults;
    int major_faults;
    int32_t tracepoint; /* the type of sched_switch */
};

static int find_places(const struct btf *btf, struct places *places) {
    int64_t state = btf_member(btf, "task_struct", "__state");
    /* Before Linux 5.14. */
    state = state >= 0 ? state : btf_member(btf, "task_struct", "state");
    int64_t number = btf_member(btf, "task_struct", "pid");
    int64_t entity = btf_member(btf, "task_struct", "se");
    int64_t cpu = btf_member(btf, "sched_entity", "sum_exec_runtime");
    int64_t minor = btf_member(btf, "task_struct", "min_flt");
    int64_t major = btf_member(btf, "task_struct", "maj_flt");
    int32_t tracepoint = btf_find(btf, BTF_KIND_TYPEDEF, "btf_trace_sched_switch");
    bool all = state >= 0 && number >= 0 && entity >= 0 && cpu >= 0 && minor >= 0 && major >= 0;
    if (!all || tracepoint < 0) {
        return -ENOENT;
    }
    *places = (struct places){.state = (int)state,
                              .number = (int)number,
                              .cpu = (int)(entity + cpu),
                              .minor_faults = (int)minor,
                              .major_faults = (int)major,
                              .tracepoint = tracepoint};
    return 0;
}

/* sched_switch(preempt, previous, next). This program, and no other part of this project, may also be used
 * under the MIT licence or version 2 of the GPL, as the kernel is told when it is loaded
 * (docs/decisions/0010-licence-in-the-kernel.md). */
static void build(struct writer *to, const struct places *places, const struct notes *notes) {
    load(to, BPF_DW, 6, 1, 8);
    load(to, BPF_W, 7, 6, places->state);
    with_constant(to, BPF_AND, 7, DEAD);
    size_t lives = jump_constant(to, BPF_JEQ, 7, 0);
    call(to, HELPER_TIME);
    store(to, STACK, NOTE_AT, 0);
    load(to, BPF_W, 1, 6, places->number);
    store(to, STACK, NOTE_AT + 8, 1);
    load(to, BPF_DW, 1, 6, places->cpu);
    store(to, STACK, NOTE_AT + 16, 1);
    load(to, BPF_DW, 1, 6, places->minor_faults);
    store(to, STACK, NOTE_AT + 24, 1);
    load(to, BPF_DW, 1, 6, places->major_faults);
    store(to, STACK, NOTE_AT + 32, 1);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, notes->map);
    load_place(to, 2, NOTE_AT);
    with_constant(to, BPF_MOV, 3, NOTE_BYTES);
    with_constant(to, BPF_MOV, 4, BPF_RB_NO_WAKEUP);
    call(to, HELPER_NOTE);
    notes_count_loss(to, notes);
    land(to, lives);
    leave_with(to, 0);
}

static int attach(struct usage *usage, const struct places *places, struct reason *reason) {
    struct writer to = {.length = 0};
    struct reason why;
    build(&to, places, &usage->notes);
    long loaded = bpf_load_typed(places->tracepoint, &to, &why);
    if (loaded < 0) {
        return reason_set(reason, (int)loaded, "bpf refuses: %s", why.text);
    }
    long attached = bpf_attach_raw(NULL, (int)loaded);
    close((int)loaded);
    usage->attached = attached < 0 ? -1 : (int)attached;
    return attached < 0 ? reason_set(reason, (int)attached, "bpf refuses: %s", strerror((int)-attached)) : 0;
}

int usage_open(struct usage *usage, struct reason *reason) {
    struct btf btf;
    struct places places;
    *usage = (struct usage)USAGE_CLOSED;
    int error = btf_open(&btf, BTF_OF_KERNEL);
    if (error != 0) {
        return reason_set(reason, error, "the kernel does not describe its structures (%s: %s)",
                          BTF_OF_KERNEL, strerror(-error));
    }
    error = find_places(&btf, &places);
    btf_close(&btf);
    if (error != 0) {
        return reason_set(reason, error, "this kernel keeps a task's figures elsewhere than those known");
    }
    error = notes_open(&usage->notes);
    error = error != 0 ? reason_set(reason, error, "bpf refuses: %s", strerror(-error))
                       : attach(usage, &places, reason);
    if (error != 0) {
        usage_close(usage);
    }
    return error;
}

bool usage_next(struct usage *usage, struct usage_note *note) {
    uint64_t words[NOTE_BYTES / 8];
    if (!notes_next(&usage->notes, words, sizeof words)) {
        return false;
    }
    *note = (struct usage_note){.time_ns = words[0],
                                .task = (int32_t)words[1],
                                .cpu_ns = (int64_t)words[2],
                                .minor_faults = (int64_t)words[3],
                                .major_faults = (int64_t)words[4]};
    return true;
}

void usage_close(struct usage *usage) {
    if (usage->attached >= 0) {
        close(usage->attached);
    }
    notes_close(&usage->notes);
    *usage = (struct usage)USAGE_CLOSED;
}

bool usage_faults(const char *stat, int64_t *minor_faults, int64_t *major_faults) {
    /* The name, which may have anything in it, ends with the last bracket; the state is the first field
     * after it, and the faults are the eighth and the tenth. */
    enum { STATE = 3, MINOR = 10, MAJOR = 12 };
    const char *at = strrchr(stat, ')');
    if (at == NULL) {
        return false;
    }
    at++;
    for (int field = STATE; field <= MAJOR; field++) {
        at += strspn(at, " ");
        char *end = NULL;
        int64_t number = strtoll(at, &end, 10);
        if ((field == MINOR || field == MAJOR) && end == at) {
            return false;
        }
        *(field == MINOR ? minor_faults : major_faults) = number;
        at += strcspn(at, " ");
    }
    return true;
}

static bool read_text(const char *path, char *text, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

bool usage_of_stopped(pid_t task, struct usage_note *note) {
    char path[64];
    char text[1024];
    *note = (struct usage_note){.task = task, .cpu_ns = -1};
    /* Of this thread alone: /proc/PID/stat of a process has those of all its threads. */
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)task, (int)task);
    return read_text(path, text, sizeof text) && usage_faults(text, &note->minor_faults, &note->major_faults);
}

bool usage_so_far(pid_t task, struct usage_note *note) {
    char path[64];
    char text[64];
    if (!usage_of_stopped(task, note)) {
        return false;
    }
    /* On a CPU, up to the last tick; waiting for one; how often. */
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)task, (int)task);
    note->cpu_ns = read_text(path, text, sizeof text) ? strtoll(text, NULL, 10) : -1;
    return true;
}

int64_t usage_faults_of(pid_t process) {
    char path[64];
    char text[1024];
    int64_t minor = 0;
    int64_t major = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    bool known = read_text(path, text, sizeof text) && usage_faults(text, &minor, &major);
    return known ? minor + major : -1;
}
