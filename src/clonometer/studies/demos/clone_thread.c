/* Is a task a process or a thread of the one that made it? Only
 * CLONE_THREAD decides. */
/* Build: gcc -O2 -o clone_thread clone_thread.c */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024)

static volatile long pid_in_task, tid_in_task;
static volatile int alive;

static int task(void *unused) {
    (void)unused;
    pid_in_task = getpid();
    tid_in_task = syscall(SYS_gettid);
    return 0;
}

/* Until the kernel has cleared what CLONE_CHILD_CLEARTID names: the
 * task has ended. */
static void await_end(void) {
    for (int id; (id = alive) != 0;) {
        syscall(SYS_futex, &alive, FUTEX_WAIT, id, NULL, NULL, 0);
    }
}

/* >>> shown */
static void make(const char *name, int flags, char *stack_top) {
    flags |= CLONE_VM | CLONE_SIGHAND;
    flags |= CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    int made = clone(task, stack_top, flags, NULL, &alive, NULL, &alive);
    if (made < 0) {
        perror("clone");
        exit(1);
    }
    await_end();
    int error = waitpid(made, NULL, __WALL) == made ? 0 : errno;
    printf("%s_pid = %ld\n", name, pid_in_task);
    printf("%s_tid = %ld\n", name, tid_in_task);
    printf("%s_wait_error = %d\n", name, error);
}
/* <<< shown */

int main(void) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("parent_pid = %ld\nECHILD = %d\n", (long)getpid(), ECHILD);
    make("without_thread", SIGCHLD, stack + STACK_BYTES);
    make("with_thread", CLONE_THREAD, stack + STACK_BYTES);
    return 0;
}
