#include "census/preparing.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clone.h"
#include "events/assemble.h"
#include "events/bpf.h"
#include "events/cpus.h"
#include "events/perf_event.h"

enum { MOST_MEMBERS = 1 << 16, MOST_YOUNG = 1 << 13, OF_ANY_ARGUMENT = -1 };

/* What a young task did, in the order of its words: notes, descriptors closed, handlers set, notes lost. */
enum { NOTED_AT = 0, CLOSES_AT = 8, HANDLERS_AT = 16, LOST_AT = 24, YOUNG_BYTES = 32 };
/* A note's words, on the stack of a program; and the keys of maps. */
enum { NOTE_BYTES = 48, NOTE_AT = -48, KEY_AT = -56, CHILD_AT = -64, YOUNG_AT = -96 };

const struct preparing_call PREPARING_CALLS[] = {
    {"setsid", SYS_setsid, OF_ANY_ARGUMENT},
    {"setpgid", SYS_setpgid, OF_ANY_ARGUMENT},
    {"chdir", SYS_chdir, OF_ANY_ARGUMENT},
    {"fchdir", SYS_fchdir, OF_ANY_ARGUMENT},
    {"chroot", SYS_chroot, OF_ANY_ARGUMENT},
    {"pivot_root", SYS_pivot_root, OF_ANY_ARGUMENT},
    {"unshare", SYS_unshare, OF_ANY_ARGUMENT},
    {"setns", SYS_setns, OF_ANY_ARGUMENT},
    {"setuid", SYS_setuid, OF_ANY_ARGUMENT},
    {"setgid", SYS_setgid, OF_ANY_ARGUMENT},
    {"setreuid", SYS_setreuid, OF_ANY_ARGUMENT},
    {"setregid", SYS_setregid, OF_ANY_ARGUMENT},
    {"setresuid", SYS_setresuid, OF_ANY_ARGUMENT},
    {"setresgid", SYS_setresgid, OF_ANY_ARGUMENT},
    {"setgroups", SYS_setgroups, OF_ANY_ARGUMENT},
    {"capset", SYS_capset, OF_ANY_ARGUMENT},
    {"umask", SYS_umask, OF_ANY_ARGUMENT},
    {"dup", SYS_dup, OF_ANY_ARGUMENT},
#ifdef SYS_dup2
    {"dup2", SYS_dup2, OF_ANY_ARGUMENT},
#endif
    {"dup3", SYS_dup3, OF_ANY_ARGUMENT},
#ifdef SYS_close_range
    {"close_range", SYS_close_range, OF_ANY_ARGUMENT},
#endif
    {"prctl(PR_SET_PDEATHSIG)", SYS_prctl, PR_SET_PDEATHSIG},
    {"prctl(PR_SET_NO_NEW_PRIVS)", SYS_prctl, PR_SET_NO_NEW_PRIVS},
    {"prctl(PR_SET_SECCOMP)", SYS_prctl, PR_SET_SECCOMP},
    {"prctl(PR_SET_NAME)", SYS_prctl, PR_SET_NAME},
    {"prctl", SYS_prctl, OF_ANY_ARGUMENT},
    {"sched_setaffinity", SYS_sched_setaffinity, OF_ANY_ARGUMENT},
    {"sched_setscheduler", SYS_sched_setscheduler, OF_ANY_ARGUMENT},
    {"setpriority", SYS_setpriority, OF_ANY_ARGUMENT},
    {"prlimit64", SYS_prlimit64, OF_ANY_ARGUMENT},
    {"seccomp", SYS_seccomp, OF_ANY_ARGUMENT},
    {"personality", SYS_personality, OF_ANY_ARGUMENT},
    /* How descriptors are listed, to close them one by one. */
    {"getdents64", SYS_getdents64, OF_ANY_ARGUMENT},
    {NULL, 0, 0},
};

int preparing_kind(int64_t number, uint64_t argument) {
    for (int kind = 0; PREPARING_CALLS[kind].name != NULL; kind++) {
        const struct preparing_call *call = &PREPARING_CALLS[kind];
        if (call->number == number &&
            (call->argument == OF_ANY_ARGUMENT || (uint64_t)call->argument == argument)) {
            return kind;
        }
    }
    return -1;
}

/* Leaves the task's number in `at` of the stack; its upper half is the process. */
static void store_task(struct writer *to, int at) {
    call(to, HELPER_TASK);
    with_constant(to, BPF_LSH, 0, 32);
    with_constant(to, BPF_RSH, 0, 32);
    store(to, STACK, at, 0);
}

/* Looks its key up; leaves the program where it is not there. At a tracepoint's record 0 would keep it from
 * everybody: perf elsewhere would miss it. Registers 6 to 9 stay. */
static void look_up_or_leave(struct writer *to, int map, int key_at) {
    load_map(to, 1, BPF_PSEUDO_MAP_FD, map);
    load_place(to, 2, key_at);
    call(to, HELPER_LOOK_UP);
    put(to, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
    leave_with(to, 1);
}

static void update(struct writer *to, int map, int key_at, int value_at) {
    load_map(to, 1, BPF_PSEUDO_MAP_FD, map);
    load_place(to, 2, key_at);
    load_place(to, 3, value_at);
    with_constant(to, BPF_MOV, 4, BPF_ANY);
    call(to, HELPER_UPDATE);
}

static void forget(struct writer *to, int map) {
    load_map(to, 1, BPF_PSEUDO_MAP_FD, map);
    load_place(to, 2, KEY_AT);
    call(to, HELPER_DELETE);
}

/* A member has made a task: that is one as well, and young where it is no thread. */
static void build_new(struct writer *to, const struct preparing *preparing,
                      const struct event_format *format) {
    copy(to, 6, 1);
    store_task(to, KEY_AT);
    look_up_or_leave(to, preparing->members, KEY_AT);
    load(to, BPF_W, 7, 6, (int)format->field[0].at);
    store(to, STACK, CHILD_AT, 7);
    update(to, preparing->members, CHILD_AT, CHILD_AT);
    load(to, BPF_DW, 8, 6, (int)format->field[1].at);
    with_constant(to, BPF_AND, 8, TASK_THREAD);
    size_t thread = jump_constant(to, BPF_JNE, 8, 0);
    with_constant(to, BPF_MOV, 7, 0);
    for (int at = 0; at < YOUNG_BYTES; at += 8) {
        store(to, STACK, YOUNG_AT + at, 7);
    }
    update(to, preparing->young, CHILD_AT, YOUNG_AT);
    land(to, thread);
    leave_with(to, 1);
}

/* Sends a note whose words 2 to 5 stand there; one that finds no room is counted in register 7. */
static void send_note(struct writer *to, const struct preparing *preparing) {
    call(to, HELPER_TIME);
    store(to, STACK, NOTE_AT, 0);
    load(to, BPF_DW, 1, STACK, KEY_AT);
    store(to, STACK, NOTE_AT + 8, 1);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, preparing->notes.map);
    load_place(to, 2, NOTE_AT);
    with_constant(to, BPF_MOV, 3, NOTE_BYTES);
    with_constant(to, BPF_MOV, 4, BPF_RB_NO_WAKEUP);
    call(to, HELPER_NOTE);
}

/* One more in a word behind register 7, which is left in register 8. */
static void count(struct writer *to, int at) {
    load(to, BPF_DW, 8, 7, at);
    with_constant(to, BPF_ADD, 8, 1);
    store(to, 7, at, 8);
}

/* A young task enters a call: it is noted with its number and as many of two arguments as it has. */
static void build_call(struct writer *to, const struct preparing *preparing, int arguments) {
    enum { NUMBER_AT = 8, ARGUMENTS_AT = 16 };
    copy(to, 6, 1);
    store_task(to, KEY_AT);
    look_up_or_leave(to, preparing->young, KEY_AT);
    copy(to, 7, 0);
    count(to, NOTED_AT);
    size_t enough = jump_constant(to, BPF_JGT, 8, PREPARING_MOST_NOTES);
    load(to, BPF_W, 1, 6, NUMBER_AT);
    store(to, STACK, NOTE_AT + 16, 1);
    with_constant(to, BPF_MOV, 1, 0);
    store(to, STACK, NOTE_AT + 32, 1);
    store(to, STACK, NOTE_AT + 40, 1);
    if (arguments > 0) {
        load(to, BPF_DW, 1, 6, ARGUMENTS_AT);
    }
    store(to, STACK, NOTE_AT + 24, 1);
    send_note(to, preparing);
    size_t sent = jump_constant(to, BPF_JEQ, 0, 0);
    count(to, LOST_AT);
    land(to, sent);
    land(to, enough);
    leave_with(to, 1);
}

/* A call of which only the number of times matters. */
static void build_count(struct writer *to, const struct preparing *preparing, int at) {
    store_task(to, KEY_AT);
    look_up_or_leave(to, preparing->young, KEY_AT);
    copy(to, 7, 0);
    count(to, at);
    leave_with(to, 1);
}

/* A task begins a program, or leaves. */
static void build_done(struct writer *to, const struct preparing *preparing, bool leaves) {
    store_task(to, KEY_AT);
    if (leaves) {
        forget(to, preparing->members);
    }
    look_up_or_leave(to, preparing->young, KEY_AT);
    copy(to, 7, 0);
    with_constant(to, BPF_MOV, 1, PREPARING_DONE);
    store(to, STACK, NOTE_AT + 16, 1);
    load(to, BPF_DW, 1, 7, CLOSES_AT);
    store(to, STACK, NOTE_AT + 24, 1);
    load(to, BPF_DW, 1, 7, HANDLERS_AT);
    store(to, STACK, NOTE_AT + 32, 1);
    /* More than were noted, or some that found no room. */
    load(to, BPF_DW, 1, 7, NOTED_AT);
    load(to, BPF_DW, 2, 7, LOST_AT);
    with_constant(to, BPF_LSH, 2, 32);
    put(to, BPF_ALU64 | BPF_ADD | BPF_X, 1, 2, 0, 0);
    store(to, STACK, NOTE_AT + 40, 1);
    send_note(to, preparing);
    notes_count_loss(to, &preparing->notes);
    forget(to, preparing->young);
    leave_with(to, 1);
}

/* A tracepoint's program hears all CPUs by whichever its event was opened on, and needs no event that is
 * enabled. */
static int attach(struct preparing *preparing, struct perf_event_attr *attributes, const struct writer *to,
                  struct reason *reason) {
    struct reason why;
    long cpus = cpus_possible("");
    long program = bpf_load(BPF_PROG_TYPE_TRACEPOINT, to, &why);
    if (program < 0) {
        return reason_set(reason, (int)program, "bpf refuses: %s", why.text);
    }
    long event = -ENODEV;
    for (int cpu = 0; cpu < cpus && event == -ENODEV; cpu++) {
        event = perf_event_call(attributes, -1, cpu, -1);
    }
    int error = event < 0 ? (int)event : 0;
    if (preparing->count == PREPARING_MOST_ATTACHED) {
        error = -E2BIG;
    } else if (error == 0 && ioctl((int)event, PERF_EVENT_IOC_SET_BPF, (int)program) != 0) {
        error = -errno;
    }
    close((int)program);
    if (error == 0) {
        preparing->attached[preparing->count++] = (int)event;
        return 0;
    }
    if (event >= 0) {
        close((int)event);
    }
    return reason_set(reason, error, "bpf refuses: %s", strerror(-error));
}

static int attach_kind(struct preparing *preparing, enum event_kind kind, struct reason *reason) {
    struct writer to = {.length = 0};
    struct perf_event_attr attributes;
    struct event_format format = {.fields = 0};
    int error = perf_event_describe(kind, &attributes, &format, reason);
    if (error != 0) {
        return error;
    }
    if (kind == EVENT_NEW_TASK) {
        build_new(&to, preparing, &format);
    } else {
        build_done(&to, preparing, kind == EVENT_EXIT);
    }
    return attach(preparing, &attributes, &to, reason);
}

/* A call that the kernel lacks is not made. */
static int attach_call(struct preparing *preparing, const char *name, int count_at, struct reason *reason) {
    static const char *const FIELDS[EVENT_MOST_FIELDS] = {"__syscall_nr"};
    struct event_format format;
    struct perf_event_attr attributes = perf_event_plain();
    char tracepoint[64];
    int error = -EACCES;
    snprintf(tracepoint, sizeof tracepoint, "syscalls/sys_enter_%s", name);
    int described = perf_event_describe_call(tracepoint, FIELDS, &format, &attributes);
    if (described != 0) {
        return described == -ENOENT
                   ? 0
                   : reason_set(reason, described, "the format of the tracepoint %s is not understood",
                                tracepoint);
    }
    /* A program that reads more arguments than the call has is refused. */
    for (int arguments = 1; arguments >= 0 && error == -EACCES; arguments--) {
        struct writer to = {.length = 0};
        if (count_at > 0) {
            build_count(&to, preparing, count_at);
        } else {
            build_call(&to, preparing, arguments);
        }
        error = attach(preparing, &attributes, &to, reason);
    }
    return error;
}

/* Tasks are numbered as in the first PID namespace: from within another one, ours are not known to us. */
bool preparing_sees_numbers(void) {
    static const ino_t FIRST = 0xeffffffcU;
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == FIRST;
}

static int open_all(struct preparing *preparing, struct reason *reason) {
    static const enum event_kind KINDS[] = {EVENT_NEW_TASK, EVENT_EXEC, EVENT_EXIT};
    int error = bpf_open_map(&preparing->members, BPF_MAP_TYPE_HASH, 8, 8, MOST_MEMBERS);
    error =
        error != 0 ? error : bpf_open_map(&preparing->young, BPF_MAP_TYPE_HASH, 8, YOUNG_BYTES, MOST_YOUNG);
    error = error != 0 ? error : notes_open(&preparing->notes);
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0] && error == 0; i++) {
        error = attach_kind(preparing, KINDS[i], reason);
    }
    for (int kind = 0; PREPARING_CALLS[kind].name != NULL && error == 0; kind++) {
        bool again = kind > 0 && PREPARING_CALLS[kind].number == PREPARING_CALLS[kind - 1].number;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(PREPARING_CALLS[kind].name, "("),
                 PREPARING_CALLS[kind].name);
        error = again ? 0 : attach_call(preparing, name, 0, reason);
    }
    error = error != 0 ? error : attach_call(preparing, "close", CLOSES_AT, reason);
    return error != 0 ? error : attach_call(preparing, "rt_sigaction", HANDLERS_AT, reason);
}

int preparing_open(struct preparing *preparing, struct reason *reason) {
    *preparing = (struct preparing)PREPARING_CLOSED;
    reason->text[0] = '\0';
    if (!preparing_sees_numbers()) {
        return reason_set(reason, -ENOTSUP, "within a PID namespace the numbers of its tasks are not known");
    }
    int error = open_all(preparing, reason);
    if (error != 0) {
        preparing_close(preparing);
        return reason->text[0] != '\0' ? error
                                       : reason_set(reason, error, "bpf refuses: %s", strerror(-error));
    }
    return 0;
}

void preparing_follow(const struct preparing *preparing, pid_t task) {
    uint64_t key = (uint64_t)task;
    union bpf_attr attributes = {.map_fd = (uint32_t)preparing->members,
                                 .key = (uint64_t)(uintptr_t)&key,
                                 .value = (uint64_t)(uintptr_t)&key,
                                 .flags = BPF_ANY};
    if (preparing->members >= 0) {
        (void)bpf_call(BPF_MAP_UPDATE_ELEM, &attributes);
    }
}

bool preparing_next(struct preparing *preparing, struct preparing_note *note) {
    uint64_t words[NOTE_BYTES / 8];
    while (notes_next(&preparing->notes, words, sizeof words)) {
        bool done = (int64_t)words[2] == PREPARING_DONE;
        int kind = done ? PREPARING_DONE : preparing_kind((int64_t)words[2], words[3]);
        *note = (struct preparing_note){.time_ns = words[0], .task = (int32_t)words[1], .kind = kind};
        if (done) {
            note->closes = words[3];
            note->handlers = words[4];
            note->cut = (words[5] >> 32) != 0 || (words[5] & UINT32_MAX) > PREPARING_MOST_NOTES;
        }
        if (done || kind >= 0) {
            return true;
        }
    }
    return false;
}

void preparing_close(struct preparing *preparing) {
    while (preparing->count > 0) {
        close(preparing->attached[--preparing->count]);
    }
    notes_close(&preparing->notes);
    for (int i = 0; i < 2; i++) {
        int *map = i == 0 ? &preparing->members : &preparing->young;
        if (*map >= 0) {
            close(*map);
        }
        *map = -1;
    }
}
