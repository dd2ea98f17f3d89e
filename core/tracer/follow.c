/* The kernel-facing half of following by ptrace: every task of the program is stopped at each of its system
 * calls, which anybody may do with a program of his own, and which makes each call many times as long. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "events/decode.h"
#include "tracer/listen.h"
#include "tracer/peek.h"
#include "tracer/stops.h"

enum { MOST_PATH = 256 };

/* ptrace takes numbers and addresses of the other process where it says pointers.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

static const long OPTIONS_FOR_ALL = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
                                    PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void note(struct heard *heard, pid_t task, enum event_kind kind, const int64_t *values, size_t count,
                 const char *text, size_t text_bytes) {
    struct trace_event event = {
        .time_ns = now_ns(), .task = task, .process = heard->process, .thread = task, .kind = (uint16_t)kind};
    struct record_rest rest = {.text = text, .text_bytes = text_bytes};
    for (size_t i = 0; i < count; i++) {
        event.values[i] = values[i];
    }
    collection_take(&heard->collection, &event, &rest);
}

/* What the arguments point to, while it is still there: exec will have replaced it. */
static void note_memory(struct heard *heard, pid_t task, const struct call_info *info) {
    static char bytes[PEEK_BYTES];
    struct pointed pointed[POINTED_MOST];
    uint64_t arguments[6];
    memcpy(arguments, info->entry.arguments, sizeof arguments);
    size_t count = pointed_at(info->entry.number, arguments, pointed);
    for (size_t i = 0; i < count; i++) {
        size_t length = peek(task, &pointed[i], arguments[pointed[i].argument], bytes);
        if (length > 0) {
            const int64_t values[] = {0, 0, pointed[i].argument};
            note(heard, task, EVENT_MEMORY, values, 3, bytes, length);
        }
    }
}

static void note_call(struct heard *heard, pid_t task) {
    struct call_info info;
    memset(&info, 0, sizeof info);
    if (ptrace((enum __ptrace_request)GET_SYSCALL_INFO, task, (void *)sizeof info, &info) <= 0) {
        return;
    }
    int64_t values[EVENT_VALUES] = {0};
    if (info.op == OP_ENTRY) {
        values[0] = (int64_t)info.entry.number;
        memcpy(&values[1], info.entry.arguments, sizeof info.entry.arguments);
        note(heard, task, EVENT_CALL_ENTER, values, EVENT_VALUES, NULL, 0);
        note_memory(heard, task, &info);
    } else if (info.op == OP_EXIT) {
        /* The number is the one of the entry before: the reader knows it. */
        values[0] = -1;
        values[1] = info.exit.value;
        note(heard, task, EVENT_CALL_EXIT, values, 2, NULL, 0);
    }
}

/* The flags of the call that a stopped creator is in, which is the last one that it has entered. */
static uint64_t flags_of(const struct heard *heard, pid_t creator) {
    uint64_t flags = 0;
    size_t i = heard->collection.count;
    while (i > 0 && (heard->collection.events[i - 1].task != creator ||
                     heard->collection.events[i - 1].kind != EVENT_CALL_ENTER)) {
        i--;
    }
    if (i == 0) {
        return 0;
    }
    const int64_t *call = heard->collection.events[i - 1].values;
    if (decode_call((uint64_t)call[0], (uint64_t)call[1], &flags) == CALL_CLONE3) {
        struct iovec local = {.iov_base = &flags, .iov_len = sizeof flags};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)call[1], .iov_len = sizeof flags};
        return process_vm_readv(creator, &local, 1, &remote, 1, 0) == sizeof flags ? flags : 0;
    }
    return flags;
}

static void note_program(struct heard *heard, pid_t task) {
    char link[40];
    char path[MOST_PATH];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)task);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    note(heard, task, EVENT_EXEC, NULL, 0, path, strlen(path));
}

/* What a stopped task is to be told when it goes on: 0, or a signal of its own. */
static int answer_stop(struct heard *heard, pid_t task, int status) {
    int stop = WSTOPSIG(status);
    int event = status >> 16;
    if (stop == SYSCALL_STOP) {
        note_call(heard, task);
        return 0;
    }
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        unsigned long made = 0;
        ptrace(PTRACE_GETEVENTMSG, task, NULL, &made);
        int64_t values[] = {(int64_t)made, (int64_t)flags_of(heard, task)};
        note(heard, task, EVENT_NEW_TASK, values, 2, NULL, 0);
        return 0;
    }
    if (event == PTRACE_EVENT_EXEC) {
        note_program(heard, task);
        return 0;
    }
    /* A new task's first stop, and whatever else is ptrace's own. */
    return stop == SIGSTOP || stop == SIGTRAP ? 0 : stop;
}

int follow_calls(struct gated *gated, struct heard *heard, struct reason *reason) {
    pid_t process = gated->pid;
    int status = 0;
    int error = sys_wait(process, &status);
    if (error == 0 && !WIFSTOPPED(status)) {
        heard->exit_status = gated_take(gated, status);
    }
    if (error != 0 || gated->pid == 0 ||
        ptrace(PTRACE_SETOPTIONS, process, NULL, (void *)OPTIONS_FOR_ALL) != 0) {
        return reason_set(reason, -EPERM,
                          "the probe cannot be traced by ptrace: a seccomp filter or yama forbids it");
    }
    heard->task = process;
    long resume_error = ptrace(PTRACE_SYSCALL, process, NULL, NULL);
    while (resume_error == 0) {
        pid_t task = waitpid(-1, &status, __WALL);
        if (task < 0 && errno == EINTR) {
            continue;
        }
        if (task == process && !WIFSTOPPED(status)) {
            heard->exit_status = gated_take(gated, status);
            break;
        }
        if (task < 0) {
            break;
        }
        if (WIFSTOPPED(status)) {
            int signal = answer_stop(heard, task, status);
            /* A task that was killed meanwhile cannot go on: its end is told next. */
            (void)ptrace(PTRACE_SYSCALL, task, NULL, (void *)(long)signal);
        }
    }
    return 0;
}
/* NOLINTEND(performance-no-int-to-ptr) */
