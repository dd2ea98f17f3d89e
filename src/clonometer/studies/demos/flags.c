/* What fork() and pthread_create() ask of clone, as the kernel saw
 * it: this program traces its own child. */
/* Build: gcc -O2 -pthread -o flags flags.c */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAUNCHES 3
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* The kernel's struct of PTRACE_GET_SYSCALL_INFO, as far as it is needed
 * (linux/ptrace.h). */
struct call {
    uint8_t op;
    uint8_t pad[3];
    uint32_t arch;
    uint64_t instruction_pointer, stack_pointer;
    uint64_t number, argument[6];
    uint64_t room[4];
};
#define GET_CALL 0x420e
#define IS_ENTRY 1

/* >>> shown */
static void *thread(void *unused) {
    (void)unused;
    pthread_exit(NULL);
}

static void launch(int with_thread) {
    if (with_thread) {
        pthread_t made;
        if (pthread_create(&made, NULL, thread, NULL) == 0) {
            pthread_join(made, NULL);
        }
    } else {
        pid_t made = fork();
        if (made == 0) {
            _exit(0);
        }
        waitpid(made, NULL, 0);
    }
}
/* <<< shown */

static const struct {
    uint64_t bit;
    const char *name;
} flag_names[] = {
    {0x00000100, "CLONE_VM"},
    {0x00000200, "CLONE_FS"},
    {0x00000400, "CLONE_FILES"},
    {0x00000800, "CLONE_SIGHAND"},
    {0x00001000, "CLONE_PIDFD"},
    {0x00004000, "CLONE_VFORK"},
    {0x00008000, "CLONE_PARENT"},
    {0x00010000, "CLONE_THREAD"},
    {0x00040000, "CLONE_SYSVSEM"},
    {0x00080000, "CLONE_SETTLS"},
    {0x00100000, "CLONE_PARENT_SETTID"},
    {0x00200000, "CLONE_CHILD_CLEARTID"},
    {0x00400000, "CLONE_DETACHED"},
    {0x01000000, "CLONE_CHILD_SETTID"},
};

static void print_flags(const char *name, const char *call, uint64_t flags,
                        uint64_t exit_signal) {
    printf("%s_call = %s\n%s_flags =", name, call, name);
    const char *between = " ";
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++) {
        if (flags & flag_names[i].bit) {
            printf("%s%s", between, flag_names[i].name);
            between = " | ";
        }
    }
    if (exit_signal != 0) {
        printf("%s%s", between,
               exit_signal == SIGCHLD ? "SIGCHLD" : "another signal");
    }
    printf("\n");
}

static void print_call(const char *name, pid_t task,
                       const struct call *call) {
    if (call->number == SYS_clone3) {
        uint64_t arguments[5] = {
            0}; /* flags, pidfd, child_tid, parent_tid, exit_signal */
        struct iovec ours = {arguments, sizeof arguments};
        struct iovec theirs = {(void *)(uintptr_t)call->argument[0],
                               sizeof arguments};
        if (process_vm_readv(task, &ours, 1, &theirs, 1, 0) ==
            sizeof arguments) {
            print_flags(name, "clone3", arguments[0], arguments[4]);
        }
#ifdef SYS_fork
    } else if (call->number == SYS_fork) {
        print_flags(name, "fork", 0, SIGCHLD);
#endif
    } else { /* clone has the exit signal in the low byte of its flags */
        print_flags(name, "clone", call->argument[0] & ~UINT64_C(0xff),
                    call->argument[0] & 0xff);
    }
}

static int makes_a_task(uint64_t number) {
#ifdef SYS_fork
    if (number == SYS_fork) {
        return 1;
    }
#endif
    return number == SYS_clone || number == SYS_clone3;
}

static void child(int with_thread) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    syscall(SYS_sched_yield); /* a mark: what follows is counted */
    for (int i = 0; i < LAUNCHES; i++) {
        launch(with_thread);
        syscall(SYS_sched_yield);
    }
    _exit(0);
}

/* Follows all tasks of a child and counts their system calls between two
 * marks. */
static int trace(const char *name, int with_thread) {
    fflush(stdout);
    pid_t first = fork();
    if (first == 0) {
        child(with_thread);
    }
    int status = 0, marks = 0, printed = 0, calls[LAUNCHES + 1] = {0};
    if (first < 0 || waitpid(first, &status, 0) != first ||
        !WIFSTOPPED(status)) {
        return 1;
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACECLONE | PTRACE_O_TRACEVFORK |
                   PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, first, NULL, options) != 0) {
        return 1;
    }
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    for (pid_t task; (task = waitpid(-1, &status, __WALL)) > 0;) {
        if (!WIFSTOPPED(status)) {
            if (task == first) {
                break;
            }
            continue;
        }
        int stop = WSTOPSIG(status), deliver = 0;
        if (stop == (SIGTRAP | 0x80)) {
            struct call call = {0};
            if (ptrace((enum __ptrace_request)GET_CALL, task, sizeof call,
                       &call) > 0 &&
                call.op == IS_ENTRY) {
                if (call.number == SYS_sched_yield && task == first) {
                    marks++;
                } else if (marks >= 1 && marks <= LAUNCHES) {
                    calls[marks]++;
                }
                if (makes_a_task(call.number) && !printed) {
                    printed = 1;
                    print_call(name, task, &call);
                }
            }
        } else if (stop != SIGTRAP && stop != SIGSTOP) {
            deliver = stop;
        }
        ptrace(PTRACE_SYSCALL, task, NULL, (long)deliver);
    }
    printf("%s_system_calls_first = %d\n%s_system_calls_next = %d\n", name,
           calls[1], name, calls[LAUNCHES]);
    return printed && marks > LAUNCHES ? 0 : 1;
}

int main(void) {
    if (trace("fork", 0) != 0 || trace("thread", 1) != 0) {
        fprintf(stderr, "flags: tracing is not possible here (%s)\n",
                strerror(errno));
        return 1;
    }
    return 0;
}
