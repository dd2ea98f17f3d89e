/* Is the table of signal handlers shared between a task and the one
 * that made it? Only CLONE_SIGHAND decides. */
/* Build: gcc -O2 -o clone_sighand clone_sighand.c */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STACK_BYTES (64 * 1024)

/* >>> shown */
static void handler(int number) {
    (void)number;
}

static int child(void *unused) {
    (void)unused;
    signal(SIGUSR1, handler); /* for whom? */
    return 0;
}

static const char *action_of_parent(int flags, char *stack_top) {
    struct sigaction action;
    signal(SIGUSR1, SIG_DFL);
    int pid = clone(child, stack_top, flags | SIGCHLD, NULL);
    if (pid < 0) {
        perror("clone");
        exit(1);
    }
    waitpid(pid, NULL, 0);
    sigaction(SIGUSR1, NULL, &action);
    return action.sa_handler == handler ? "handler" : "default";
}
/* <<< shown */

int main(void) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    /* A handler is an address: clone refuses CLONE_SIGHAND without
     * CLONE_VM. */
    printf("without_sighand = %s\n",
           action_of_parent(CLONE_VM, stack + STACK_BYTES));
    printf("with_sighand = %s\n",
           action_of_parent(CLONE_VM | CLONE_SIGHAND, stack + STACK_BYTES));
    return 0;
}
