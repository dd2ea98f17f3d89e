/* A server that makes tasks at a steady rate, from four places: steady_tasks fork|spawn|thread TASKS_A_SECOND */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 4, DEPTH = 6 };

static void *nothing(void *unused) {
    return unused;
}

static int make(const char *how) {
    static char *const WORDS[] = {"/bin/true", NULL};
    pid_t child = -1;
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        return pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
    }
    if (strcmp(how, "fork") == 0) {
        child = fork();
        if (child == 0) {
            _exit(0);
        }
    } else if (posix_spawn(&child, WORDS[0], NULL, NULL, WORDS, environ) != 0) {
        return 1;
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}

/* Calls within calls, as a server has them. */
static __attribute__((noinline)) int below(const char *how, int depth) {
    int failed = depth > 0 ? below(how, depth - 1) : make(how);
    __asm__ volatile("");
    return failed;
}

int main(int count, char **words) {
    long rate = count > 2 ? strtol(words[2], NULL, 10) : 0;
    struct timespec next;
    if (rate <= 0) {
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long i = 0;; i++) {
        if (below(words[1], DEPTH + (int)(i % PLACES)) != 0) {
            return 1;
        }
        next.tv_nsec += 1000000000 / rate;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
}
