/* By ptrace, where the kernel's tracepoints may not be read: every task stops when it makes another one,
 * begins a program or leaves. That needs no privileges, but stopping takes longer than launching, so how long
 * a call took is not told. */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clone.h"
#include "census/answer.h"
#include "census/census.h"
#include "census/names.h"
#include "census/signals.h"
#include "census/stopped.h"
#include "census/usage.h"
#include "events/decode.h"

/* ptrace takes numbers and addresses of the other process where it says pointers.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

enum { PAUSE_NS = 50000000, EXIT_SIGNAL_BITS = 0xff, EVENT_STOP = 128 /* PTRACE_EVENT_STOP */ };
enum { MOST_EARLY = 256, MOST_EARLY_NS = 1000000000 };

#define OPTIONS                                                                                              \
    (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

/* The number and the first two arguments of the call that a stopped task is in. */
static bool read_call(pid_t task, uint64_t *number, uint64_t *arguments) {
    struct user_regs_struct registers;
    struct iovec vector = {.iov_base = &registers, .iov_len = sizeof registers};
    if (ptrace(PTRACE_GETREGSET, task, (void *)NT_PRSTATUS, &vector) != 0) {
        return false;
    }
#if defined(__x86_64__)
    *number = registers.orig_rax;
    arguments[0] = registers.rdi;
    arguments[1] = registers.rsi;
    return true;
#elif defined(__aarch64__)
    *number = registers.regs[8];
    arguments[0] = registers.regs[0];
    arguments[1] = registers.regs[1];
    return true;
#else
    return false;
#endif
}

static void read_making(pid_t creator, struct census_event *event) {
    uint64_t number = 0;
    uint64_t arguments[2] = {0, 0};
    event->result = CENSUS_UNKNOWN;
    if (!read_call(creator, &number, arguments)) {
        return;
    }
    event->result = (int64_t)number;
    enum call_kind kind = decode_call(number, arguments[0], &event->flags);
    if (kind == CALL_CLONE3) {
        struct clone_args_v2 asked;
        /* The first version has all of these. */
        const size_t bytes = offsetof(struct clone_args_v2, set_tid);
        struct iovec local = {.iov_base = &asked, .iov_len = bytes};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)arguments[0], .iov_len = bytes};
        if (process_vm_readv(creator, &local, 1, &remote, 1, 0) == (ssize_t)bytes) {
            event->flags = asked.flags;
            event->asked = (struct census_asked){.exit_signal = (int32_t)asked.exit_signal,
                                                 .own_stack = asked.stack != 0};
        }
    } else if (number == SYS_clone) {
        event->asked = (struct census_asked){.exit_signal = (int32_t)(arguments[0] & EXIT_SIGNAL_BITS),
                                             .own_stack = arguments[1] != 0};
    }
}

/* What a stop means for the family; false where nothing. */
static bool translate(pid_t task, int stop_event, struct census_event *event) {
    static char path[CENSUS_PATH_BYTES];
    unsigned long message = 0;
    *event = (struct census_event){.time_ns = census_now_ns(),
                                   .task = task,
                                   .local_tid = task,
                                   .asked = {.exit_signal = CENSUS_UNKNOWN, .own_stack = CENSUS_UNKNOWN}};
    (void)ptrace(PTRACE_GETEVENTMSG, task, NULL, &message);
    switch (stop_event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        event->kind = CENSUS_NEW_TASK;
        event->number = (int64_t)message;
        read_making(task, event);
        return true;
    case PTRACE_EVENT_EXEC:
        event->kind = CENSUS_EXEC;
        event->number = (int64_t)message;
        name_of_process(task, path, sizeof path);
        event->path = path;
        return true;
    case PTRACE_EVENT_EXIT:
        event->kind = CENSUS_EXIT;
        return true;
    default:
        return false;
    }
}

/* Where a task makes another: while it is stopped, nothing changes of what it has mapped. What it has mapped
 * is read again where it begins a program, and where its calls lead to code that was mapped since. */
static int take_site(struct sites *sites, struct family *family, const struct census_event *event) {
    if (event->kind == CENSUS_EXEC || event->kind == CENSUS_EXIT) {
        spaces_leave(&sites->spaces, event->task);
    }
    if (event->kind != CENSUS_NEW_TASK) {
        return 0;
    }
    struct census_event site = *event;
    site.kind = CENSUS_SITE;
    site.result = stopped_site(sites, event->task, event->time_ns);
    return family_take(family, &site);
}

/* Who is followed by somebody without privileges gets none by the program that it begins (ptrace(2)). */
static void note_privileges(struct census *census, pid_t task, const char *name) {
    char path[32];
    struct stat process;
    struct stat program;
    struct statvfs filesystem;
    snprintf(path, sizeof path, "/proc/%d", (int)task);
    bool seen = stat(path, &process) == 0;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)task);
    seen = seen && stat(path, &program) == 0 && statvfs(path, &filesystem) == 0;
    if (!seen || (filesystem.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
        return;
    }
    bool user = (program.st_mode & S_ISUID) != 0 && process.st_uid != program.st_uid;
    bool group =
        (program.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && process.st_gid != program.st_gid;
    if ((user || group) && census->unprivileged[0] == '\0') {
        name_copy(census->unprivileged, sizeof census->unprivileged, name, strlen(name));
    }
}

/* While it is stopped just before its end. */
static void take_usage(struct family *family, const struct census_event *event) {
    struct usage_note note;
    if (event->kind == CENSUS_EXIT && usage_of_stopped(event->task, &note)) {
        struct census_event used = *event;
        used.kind = CENSUS_USED;
        used.number = CENSUS_UNKNOWN;
        used.result = note.minor_faults;
        used.flags = (uint64_t)note.major_faults;
        (void)family_take(family, &used);
    }
}

static int answer_stop(struct census *census, struct family *family, pid_t task, int status) {
    struct census_event event;
    int stop = WSTOPSIG(status);
    int stop_event = status >> 16;
    int error = 0;
    if (translate(task, stop_event, &event)) {
        take_usage(family, &event);
        error = census->sites != NULL ? take_site(census->sites, family, &event) : 0;
        error = error != 0 ? error : family_take(family, &event);
        if (event.kind == CENSUS_EXEC) {
            note_privileges(census, task, event.path);
        }
    }
    if (stop_event == EVENT_STOP && stop != SIGTRAP) {
        /* The user has stopped the program: it stays stopped. */
        (void)ptrace(PTRACE_LISTEN, task, NULL, NULL);
        return error;
    }
    /* A task that was killed meanwhile cannot go on: its end is told next. */
    (void)ptrace(PTRACE_CONT, task, NULL, (void *)(long)(stop_event == 0 ? stop : 0));
    return error;
}

/* A new task may stop before its maker has told of it: whatever it did until then would be a stranger's, and
 * its end would never be seen. It stays stopped until its maker tells, which one that was killed never does.
 */
static struct {
    pid_t task;
    int status;
    uint64_t since_ns;
} early[MOST_EARLY];

static bool hold(pid_t task, int status) {
    for (size_t i = 0; i < MOST_EARLY; i++) {
        if (early[i].task == 0) {
            early[i].task = task;
            early[i].status = status;
            early[i].since_ns = census_now_ns();
            return true;
        }
    }
    return false;
}

static int answer_early(struct census *census, struct family *family) {
    int error = 0;
    for (size_t i = 0; i < MOST_EARLY && error == 0; i++) {
        pid_t task = early[i].task;
        if (task != 0 && (family_has(family, task) || census_now_ns() - early[i].since_ns > MOST_EARLY_NS)) {
            early[i].task = 0;
            error = answer_stop(census, family, task, early[i].status);
        }
    }
    return error;
}

/* Until a task has something to say, which may have been just before, or a moment is over. SIGCHLD is
 * blocked. */
static void doze(const sigset_t *child) {
    const struct timespec most = {.tv_nsec = PAUSE_NS};
    (void)sigtimedwait(child, NULL, &most);
}

/* Answers stops until the census is over. A traced task takes a signal only when its stops are answered, so a
 * command that is told to end is followed until it has, and all of its group. */
static int watch(struct census *census, struct family *family) {
    sigset_t child;
    int error = 0;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (error == 0 && !census_over(census, family, census->exit_status >= 0)) {
        int status = 0;
        pid_t task = waitpid(-1, &status, __WALL | WNOHANG);
        if (task == 0) {
            (void)answer_send(census->answer);
            doze(&child);
        } else if (task < 0 && errno != EINTR) {
            break;
        } else if (task > 0 && WIFSTOPPED(status)) {
            bool held = status >> 16 == EVENT_STOP && !family_has(family, task) && hold(task, status);
            error = held ? 0 : answer_stop(census, family, task, status);
        } else if (task > 0 && task == census->gated.pid) {
            command_note(census, status);
        }
        error = error != 0 ? error : answer_early(census, family);
    }
    return error;
}

/* What the thread does that follows the command: tasks that it has not waited for go on as soon as it ends,
 * and none waits for the rest of the answer. */
struct following {
    struct census *census;
    struct family *family;
    struct reason *reason;
    int error;
};

static int follow(struct census *census, struct family *family, struct reason *reason) {
    if (ptrace(PTRACE_SEIZE, census->pid, NULL, (void *)OPTIONS) != 0) {
        return reason_set(reason, -errno,
                          "the command cannot be traced by ptrace (%s): a seccomp filter or yama forbids it",
                          strerror(errno));
    }
    (void)tell_begin(census);
    census->begin_ns = census_now_ns();
    int error = command_release(census);
    if (error == 0 && !census->interrupted) {
        error = watch(census, family);
    }
    census->end_ns = census_now_ns();
    return error != 0 ? reason_set(reason, error, "the census cannot be taken: %s", strerror(-error)) : 0;
}

static void *follow_in_thread(void *context) {
    struct following *following = context;
    following->error = follow(following->census, following->family, following->reason);
    return NULL;
}

/* Signals are for the first thread, but for SIGCHLD, which is blocked in both for whoever asks for it. */
static int follow_to_the_end(struct following *following) {
    pthread_t thread;
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    bool alone = pthread_create(&thread, NULL, follow_in_thread, following) != 0;
    sigemptyset(&all);
    sigaddset(&all, SIGCHLD);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (alone) {
        (void)follow_in_thread(following);
    } else {
        pthread_join(thread, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return following->error;
}

int census_by_ptrace(struct census *census, struct family **family, struct reason *reason) {
    if (census->command == NULL) {
        return reason_set(reason, -ENOTSUP, "%s cannot be watched without tracepoints: %s",
                          census->cgroup != NULL ? "a service" : "a running process",
                          census->without[0] != '\0' ? census->without
                                                     : "start the program with the census instead");
    }
    census->how = "ptrace";
    if (census->calls) {
        snprintf(census->without_calls, sizeof census->without_calls,
                 "ptrace would have to stop each task at each of its calls");
    }
    int error = command_start(census);
    if (error != 0) {
        return reason_set(reason, error, "the command cannot be started: %s", strerror(-error));
    }
    census->begin_ns = census_now_ns();
    *family = family_new(census->begin_ns, tell_task, census);
    error = *family == NULL ? -ENOMEM : family_adopt(*family, census->pid, "");
    if (error == 0) {
        family_place(*family, census->pid, census->pid, CENSUS_UNKNOWN);
    }
    struct following following = {.census = census, .family = *family, .reason = reason};
    error = error != 0 ? error : follow_to_the_end(&following);
    /* What asks the census to end may have ended the command before it could be followed. */
    if (error != 0 && signals_asked(false)) {
        (void)tell_begin(census);
        return command_release(census);
    }
    return error;
}
/* NOLINTEND(performance-no-int-to-ptr) */
