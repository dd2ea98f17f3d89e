/* The kernel-facing half of trace_by_ptrace. Tasks that the program makes are not traced themselves: what
 * they were made with is seen when the call that made them returns. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "events/gated.h"
#include "tracer/stops.h"
#include "tracer/trace.h"

/* ptrace takes numbers and addresses of the other process where it says pointers.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

static const long OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

/* In the child. */
static bool prepare(const void *context) {
    (void)context;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

/* Notes what the stopped program's call asks for, and the task when the call has made one. */
static void look(pid_t pid, struct trace *trace, enum call_kind *pending, uint64_t *flags) {
    struct call_info info;
    memset(&info, 0, sizeof info);
    if (ptrace((enum __ptrace_request)GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) <= 0) {
        return;
    }
    if (info.op == OP_ENTRY) {
        *pending = decode_call(info.entry.number, info.entry.arguments[0], flags);
        struct iovec local = {.iov_base = flags, .iov_len = sizeof *flags};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)info.entry.arguments[0],
                               .iov_len = sizeof *flags};
        if (*pending == CALL_CLONE3 && process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof *flags) {
            *pending = CALL_OTHER;
        }
    } else if (info.op == OP_EXIT) {
        if (*pending != CALL_OTHER && info.exit.value > 0) {
            trace_note(trace,
                       &(struct new_task){.creator = pid, .tid = (int32_t)info.exit.value, .flags = *flags});
        }
        *pending = CALL_OTHER;
    }
}

int trace_by_ptrace(char **arguments, struct trace *trace, struct reason *reason) {
    enum call_kind pending = CALL_OTHER;
    uint64_t flags = 0;
    int status = 0;
    memset(trace, 0, sizeof *trace);
    const struct gated_words words = {.arguments = arguments, .ends_with_starter = true, .prepare = prepare};
    struct gated gated;
    int error = gated_start(&words, &gated);
    pid_t pid = gated.pid;
    error = error != 0 ? error : gated_release(&gated);
    error = error != 0 ? error : sys_wait(pid, &status);
    if (error == 0 && !WIFSTOPPED(status)) {
        trace->exit_status = gated_take(&gated, status);
        error = -EPERM;
    }
    error = error == 0 && ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)OPTIONS) != 0 ? -errno : error;
    if (error != 0) {
        (void)gated_kill(&gated);
        return reason_set(reason, -EPERM,
                          "%s cannot be traced by ptrace: a seccomp filter or yama forbids it", arguments[0]);
    }
    int signal = 0;
    while (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal) == 0 && waitpid(pid, &status, 0) == pid &&
           WIFSTOPPED(status)) {
        int stop = WSTOPSIG(status);
        /* A bare SIGTRAP is exec's; others are the program's own signals. */
        signal = stop == SYSCALL_STOP || stop == SIGTRAP ? 0 : stop;
        if (stop == SYSCALL_STOP) {
            look(pid, trace, &pending, &flags);
        }
    }
    trace->exit_status = WIFSTOPPED(status) ? gated_kill(&gated) : gated_take(&gated, status);
    return 0;
}
/* NOLINTEND(performance-no-int-to-ptr) */
