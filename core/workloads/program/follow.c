/* The kernel-facing half of single-stepping: ptrace stops the program before each instruction. Tasks that it
 * makes are not stepped. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/rows.h"
#include "workloads/program/steps.h"

#if defined(__x86_64__)

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>

/* ptrace takes numbers and addresses of the other process where it says pointers.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

/* The entry of the file that was executed, as the kernel tells the loader. 0: not known. */
static uint64_t read_entry(pid_t pid) {
    char path[40];
    Elf64_auxv_t words[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, words, sizeof words);
    if (fd >= 0) {
        close(fd);
    }
    for (size_t i = 0; i < (length > 0 ? (size_t)length : 0) / sizeof *words; i++) {
        if (words[i].a_type == AT_ENTRY) {
            return words[i].a_un.a_val;
        }
    }
    return 0;
}

static uint64_t peek_word(pid_t pid, uint64_t address) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)address, NULL);
    return errno != 0 ? 0 : (uint64_t)word;
}

static void look(pid_t pid, struct steps_watch *watch) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0) {
        return;
    }
    uint16_t opcode = (uint16_t)peek_word(pid, registers.rip);
    if (steps_take(watch, registers.rip, opcode, registers.rsp, registers.rdi)) {
        watch->return_address = peek_word(pid, registers.rsp);
    }
}

static void wake_up(int signal) {
    (void)signal;
}

/* A program that sleeps makes no step: a timer ends the wait for it. */
static void set_timer(int64_t ns, struct sigaction *before) {
    struct sigaction action = {.sa_handler = wake_up};
    struct itimerval timer = {.it_value = {.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000}};
    if (ns > 0) {
        sigaction(SIGALRM, &action, before);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
    if (ns == 0) {
        sigaction(SIGALRM, before, NULL);
    }
}

static int step(pid_t pid, int64_t most_instructions, int64_t most_ns, struct steps_watch *watch,
                int *status) {
    int64_t end_ns = rows_monotonic_ns() + most_ns;
    int signal = 0;
    for (int64_t i = 0; i < most_instructions && rows_monotonic_ns() < end_ns; i++) {
        look(pid, watch);
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)signal) != 0 ||
            waitpid(pid, status, 0) != pid) {
            return errno == EINTR ? 0 : -errno;
        }
        if (!WIFSTOPPED(*status)) {
            watch->steps.ended = true;
            return 0;
        }
        signal = WSTOPSIG(*status) == SIGTRAP ? 0 : WSTOPSIG(*status);
    }
    return 0;
}

int steps_follow(pid_t pid, int64_t most_instructions, int64_t most_ns, struct steps_watch *watch) {
    struct sigaction before;
    int status = 0;
    int error = sys_wait(pid, &status);
    if (error != 0 || !WIFSTOPPED(status)) {
        return error != 0 ? error : -ECHILD;
    }
    /* Nobody steps it once this process has died. */
    (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(long)PTRACE_O_EXITKILL);
    watch->entry = read_entry(pid);
    set_timer(most_ns, &before);
    error = step(pid, most_instructions, most_ns, watch, &status);
    set_timer(0, &before);
    if (!watch->steps.ended) {
        kill(pid, SIGKILL);
        (void)sys_wait(pid, &status);
    }
    return error;
}
/* NOLINTEND(performance-no-int-to-ptr) */

#else

int steps_follow(pid_t pid, int64_t most_instructions, int64_t most_ns, struct steps_watch *watch) {
    (void)pid;
    (void)most_instructions;
    (void)most_ns;
    (void)watch;
    return -ENOSYS;
}

#endif
