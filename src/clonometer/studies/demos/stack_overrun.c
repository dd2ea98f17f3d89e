/* A function calls itself too often. What lies below the stack that it
 * runs out of? */
/* Build: gcc -O2 -o stack_overrun stack_overrun.c */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024)
#define PAGE_BYTES 4096
#define NUMBERS 4096 /* 16 KiB, a quarter of a stack */
#define ROOM_BYTES 1024
/* So many calls need at least 4 KiB more than a stack has, and less than
 * the numbers below it. */
#define CALLS (STACK_BYTES / ROOM_BYTES + 4)

static struct {
    atomic_int ready, go;
    int wrong;
} *shared;

/* >>> shown */
static int neighbour(void *unused) {
    volatile int numbers[NUMBERS]; /* on the neighbour's stack */
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* never left alone */
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = 42;
    }
    atomic_store(&shared->ready, 1);
    while (!atomic_load(&shared->go)) {
        sched_yield(); /* the other one runs meanwhile */
    }
    int wrong = 0;
    for (int i = 0; i < NUMBERS; i++) {
        wrong += numbers[i] != 42;
    }
    shared->wrong = wrong;
    _exit(0);
}

static __attribute__((noinline)) int deeper(int calls) {
    volatile char room[ROOM_BYTES]; /* each call takes as much */
    for (int i = 0; i < ROOM_BYTES; i++) {
        room[i] = 7;
    }
    return calls > 1 ? deeper(calls - 1) + room[0] : 0;
}

static int overruns(void *unused) {
    (void)unused;
    deeper(CALLS); /* more than its stack has room for */
    return 0;
}
/* <<< shown */

static pid_t start(int (*task)(void *), char *stack_top, int flags) {
    pid_t pid = clone(task, stack_top, flags | SIGCHLD, NULL);
    if (pid < 0) {
        perror("clone");
        exit(1);
    }
    return pid;
}

/* The two stacks lie one above the other, as a library may well put
 * them. */
static void run(const char *name, int flags, char *stacks) {
    shared->ready = shared->go = shared->wrong = 0;
    pid_t below = start(neighbour, stacks + STACK_BYTES, flags);
    while (!atomic_load(&shared->ready)) {
        sched_yield();
    }
    int status = 0;
    waitpid(start(overruns, stacks + 2 * STACK_BYTES, flags), &status, 0);
    atomic_store(&shared->go, 1);
    waitpid(below, NULL, 0);
    printf("%s_signal = %d\n", name,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    printf("%s_wrong = %d\n", name, shared->wrong);
}

int main(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (shared == MAP_FAILED || stacks == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("numbers = %d\n", NUMBERS);
    run("shared", CLONE_VM, stacks);
    run("copied", 0, stacks);
    mprotect(stacks + STACK_BYTES, PAGE_BYTES, PROT_NONE); /* a guard page */
    run("guarded", CLONE_VM, stacks);
    return 0;
}
