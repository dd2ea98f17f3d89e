/* Is memory shared between a task and the one that made it? Only
 * CLONE_VM decides. */
/* Build: gcc -O2 -o clone_vm clone_vm.c */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STACK_BYTES (64 * 1024)

/* >>> shown */
static volatile int answer;

static int child(void *unused) {
    (void)unused;
    answer = 42; /* in whose memory? */
    return 0;
}

static int answer_seen_by_parent(int flags, char *stack_top) {
    answer = 0;
    int pid = clone(child, stack_top, flags | SIGCHLD, NULL);
    if (pid < 0) {
        perror("clone");
        exit(1);
    }
    waitpid(pid, NULL, 0);
    return answer;
}
/* <<< shown */

int main(void) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("without_vm = %d\n",
           answer_seen_by_parent(0, stack + STACK_BYTES));
    printf("with_vm = %d\n",
           answer_seen_by_parent(CLONE_VM, stack + STACK_BYTES));
    return 0;
}
