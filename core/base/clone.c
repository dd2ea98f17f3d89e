#include "base/clone.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum { FUTEX_WAIT_SHARED = 0, WAIT_BY_PIDFD = 3 };

const char *clone_flag_name(unsigned index) {
    static const char *const NAMES[64] = {
        [7] = "CLONE_NEWTIME",
        [8] = "CLONE_VM",
        [9] = "CLONE_FS",
        [10] = "CLONE_FILES",
        [11] = "CLONE_SIGHAND",
        [12] = "CLONE_PIDFD",
        [13] = "CLONE_PTRACE",
        [14] = "CLONE_VFORK",
        [15] = "CLONE_PARENT",
        [16] = "CLONE_THREAD",
        [17] = "CLONE_NEWNS",
        [18] = "CLONE_SYSVSEM",
        [19] = "CLONE_SETTLS",
        [20] = "CLONE_PARENT_SETTID",
        [21] = "CLONE_CHILD_CLEARTID",
        [22] = "CLONE_DETACHED",
        [23] = "CLONE_UNTRACED",
        [24] = "CLONE_CHILD_SETTID",
        [25] = "CLONE_NEWCGROUP",
        [26] = "CLONE_NEWUTS",
        [27] = "CLONE_NEWIPC",
        [28] = "CLONE_NEWUSER",
        [29] = "CLONE_NEWPID",
        [30] = "CLONE_NEWNET",
        [31] = "CLONE_IO",
        [32] = "CLONE_CLEAR_SIGHAND",
        [33] = "CLONE_INTO_CGROUP",
    };
    return index < 64 ? NAMES[index] : NULL;
}

/* The child must not return through this frame: its stack is another one, or its caller's is shared. So the
 * call, the branch and the jump to `entry` are one piece of assembly. The frame pointer ends the chain of
 * frames for debuggers. */
#if defined(__x86_64__)
static long start(long number, const long call[5], void (*entry)(void *), void *argument) {
    long result;
    register long r10 __asm__("r10") = call[3];
    register long r8 __asm__("r8") = call[4];
    register void (*r12)(void *) __asm__("r12") = entry;
    register void *r13 __asm__("r13") = argument;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "and $-16, %%rsp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"(number), "D"(call[0]), "S"(call[1]), "d"(call[2]), "r"(r10), "r"(r8), "r"(r12),
                       "r"(r13)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long start(long number, const long call[5], void (*entry)(void *), void *argument) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = call[0];
    register long x1 __asm__("x1") = call[1];
    register long x2 __asm__("x2") = call[2];
    register long x3 __asm__("x3") = call[3];
    register long x4 __asm__("x4") = call[4];
    register void (*x9)(void *) __asm__("x9") = entry;
    register void *x10 __asm__("x10") = argument;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x30, xzr\n\t"
                     "mov x0, x10\n\t"
                     "blr x9\n\t"
                     "brk 1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), "r"(x10)
                     : "memory");
    return x0;
}
#endif

long clone3_start(struct clone_args_v2 *args, void (*entry)(void *), void *argument) {
    const long call[5] = {(long)args, sizeof *args};
    return start(SYS_clone3, call, entry, argument);
}

long clone_start_thread(uint64_t flags, void *stack_top, int32_t *tid, void (*entry)(void *),
                        void *argument) {
#if defined(__x86_64__)
    const long call[5] = {(long)flags, (long)stack_top, (long)tid, (long)tid, 0};
#else
    const long call[5] = {(long)flags, (long)stack_top, (long)tid, 0, (long)tid};
#endif
    return start(SYS_clone, call, entry, argument);
}

void clone_wait_cleared(const int32_t *tid) {
    /* Not FUTEX_PRIVATE: the kernel's wake-up on exit is a shared one (kernel/fork.c, mm_release). */
    for (int32_t seen; (seen = __atomic_load_n(tid, __ATOMIC_ACQUIRE)) != 0;) {
        raw_call4(SYS_futex, (long)tid, FUTEX_WAIT_SHARED, seen, 0);
    }
}

int clone_wait_pidfd(int pidfd, int *exit_status) {
    siginfo_t info = {0};
    long error = -EINTR;
    while (error == -EINTR) {
        error = raw_call6(SYS_waitid, WAIT_BY_PIDFD, pidfd, (long)&info, WEXITED, 0, 0);
    }
    if (error != 0) {
        return (int)error;
    }
    *exit_status = info.si_status;
    return info.si_code == CLD_EXITED ? 0 : -ECHILD;
}

int clone3_answers(void) {
    /* No arguments at all are invalid arguments to a kernel that has the call. */
    return raw_call4(SYS_clone3, 0, 0, 0, 0) == -ENOSYS ? -ENOSYS : 0;
}
