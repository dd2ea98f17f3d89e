/* Is the table of open files shared between a task and the one that
 * made it? Only CLONE_FILES decides. */
/* Build: gcc -O2 -o clone_files clone_files.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024)

/* >>> shown */
static int child(void *file) {
    return close(*(int *)file); /* whose descriptor? */
}

static const char *state_seen_by_parent(int flags, char *stack_top) {
    int file = open("/dev/null", O_RDONLY);
    int pid = clone(child, stack_top, flags | SIGCHLD, &file);
    if (file < 0 || pid < 0) {
        perror("clone");
        exit(1);
    }
    waitpid(pid, NULL, 0);
    int is_open = fcntl(file, F_GETFD) >= 0;
    if (is_open) {
        close(file);
    }
    return is_open ? "open" : "closed";
}
/* <<< shown */

int main(void) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("without_files = %s\n",
           state_seen_by_parent(0, stack + STACK_BYTES));
    printf("with_files = %s\n",
           state_seen_by_parent(CLONE_FILES, stack + STACK_BYTES));
    return 0;
}
