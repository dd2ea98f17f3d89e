/* Raw clone and clone3, the flags they take, and the ways to wait for what they made. Results are a value or
 * -errno. */
#ifndef CLONOMETER_CLONE_H
#define CLONOMETER_CLONE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "base/raw.h"

/* linux/sched.h, which is not there for musl-gcc. */
#define TASK_NEWTIME UINT64_C(0x80)
#define TASK_VM UINT64_C(0x100)
#define TASK_FS UINT64_C(0x200)
#define TASK_FILES UINT64_C(0x400)
#define TASK_SIGHAND UINT64_C(0x800)
#define TASK_PIDFD UINT64_C(0x1000)
#define TASK_VFORK UINT64_C(0x4000)
#define TASK_THREAD UINT64_C(0x10000)
#define TASK_NEWNS UINT64_C(0x20000)
#define TASK_SYSVSEM UINT64_C(0x40000)
#define TASK_SETTLS UINT64_C(0x80000)
#define TASK_PARENT_SETTID UINT64_C(0x100000)
#define TASK_CHILD_CLEARTID UINT64_C(0x200000)
#define TASK_CHILD_SETTID UINT64_C(0x1000000)
#define TASK_NEWCGROUP UINT64_C(0x2000000)
#define TASK_NEWUTS UINT64_C(0x4000000)
#define TASK_NEWIPC UINT64_C(0x8000000)
#define TASK_NEWUSER UINT64_C(0x10000000)
#define TASK_NEWPID UINT64_C(0x20000000)
#define TASK_NEWNET UINT64_C(0x40000000)
#define TASK_INTO_CGROUP UINT64_C(0x200000000)

/* What pthread_create asks the kernel for but the TLS, in which a raw thread differs. */
#define TASK_RAW_THREAD                                                                                      \
    (TASK_VM | TASK_FS | TASK_FILES | TASK_SYSVSEM | TASK_SIGHAND | TASK_THREAD | TASK_PARENT_SETTID |       \
     TASK_CHILD_CLEARTID)
#define TASK_PTHREAD (TASK_RAW_THREAD | TASK_SETTLS)

/* The names of flags by bit; NULL for bits without one. `index` counts from 0 to 63. */
const char *clone_flag_name(unsigned index);

#ifndef SYS_clone3
#define SYS_clone3 435 /* the same number on all architectures */
#endif

/* struct clone_args of linux/sched.h, version 2 (Linux 5.7). */
struct clone_args_v2 {
    uint64_t flags;
    uint64_t pidfd;
    uint64_t child_tid;
    uint64_t parent_tid;
    uint64_t exit_signal;
    uint64_t stack; /* its lowest address */
    uint64_t stack_size;
    uint64_t tls;
    uint64_t set_tid;
    uint64_t set_tid_size;
    uint64_t cgroup;
};

/* The kernel refuses fields that it does not know unless they are zero, but it refuses sizes that it does not
 * know only when something in the rest is not zero: the whole struct is right for every version. */
static inline long clone3_fork_like(struct clone_args_v2 *args) {
    return raw_call4(SYS_clone3, (long)args, sizeof *args, 0, 0);
}

/* The order of the last two arguments of clone differs by architecture. */
static inline long clone_fork_like(uint64_t flags_and_signal) {
    return raw_call6(SYS_clone, (long)flags_and_signal, 0, 0, 0, 0, 0);
}

/* Starts a task that runs `entry(argument)` on its own stack if there is one, else on its copy of this one.
 * `entry` must end the task by clone_exit_* and must not return. The task's id or -errno. */
long clone3_start(struct clone_args_v2 *args, void (*entry)(void *), void *argument);

/* The same by clone; `stack_top` is aligned to 16 bytes. The id is stored in `tid` before the task runs, and
 * cleared with a futex wake-up when it has left. */
long clone_start_thread(uint64_t flags, void *stack_top, int32_t *tid, void (*entry)(void *), void *argument);

/* Ends this task alone. */
__attribute__((noreturn)) static inline void clone_exit_task(void) {
    for (;;) {
        raw_call4(SYS_exit, 0, 0, 0, 0);
    }
}

/* The CPU that a task without TLS of its own runs on: the C library would answer with its creator's. */
static inline uint32_t clone_cpu(void) {
    uint32_t cpu = 0;
    raw_call4(SYS_getcpu, (long)&cpu, 0, 0, 0);
    return cpu;
}

/* Waits until the kernel has cleared `tid`: as pthread_join does. */
void clone_wait_cleared(const int32_t *tid);

/* Waits for the child behind a pidfd. 0 with its exit status, -ECHILD if a signal ended it, or -errno. */
int clone_wait_pidfd(int pidfd, int *exit_status);

/* Whether clone3 can be called: 0, or -ENOSYS (an old kernel, or a seccomp filter such as Docker's). */
int clone3_answers(void);

#endif
