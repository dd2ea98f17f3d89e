/* What a process and a thread answer when they are asked who they are:
 * getpid, gettid and getppid. */
/* Build: gcc -O2 -pthread -o task_ids task_ids.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* >>> shown */
static void print_ids(const char *who) {
    printf("%s_pid = %ld\n", who, (long)getpid());
    printf("%s_tid = %ld\n", who, (long)syscall(SYS_gettid));
    printf("%s_ppid = %ld\n", who, (long)getppid());
    fflush(stdout);
}

static void *thread(void *unused) {
    (void)unused;
    print_ids("thread");
    return NULL;
}

int main(void) {
    print_ids("main");
    pthread_t made;
    if (pthread_create(&made, NULL, thread, NULL) == 0) {
        pthread_join(made, NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        print_ids("child");
        _exit(0);
    }
    /* <<< shown */
    waitpid(child, NULL, 0);
    return child < 0;
}
