/* A crash in a process leaves the others alive; a crash in a thread
 * ends all threads of its process. */
/* Build: gcc -O2 -pthread -o crash crash.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 3

struct shared {
    atomic_long
        beats[WORKERS]; /* each worker counts up for as long as it lives */
};
static struct shared *shared;
static volatile int *volatile nowhere = (volatile int *)16;

/* >>> shown */
static void crash(void) {
    *nowhere = 1; /* nothing is mapped there */
}

static void *worker(void *beat) {
    for (;;) {
        atomic_fetch_add((atomic_long *)beat, 1);
        usleep(1000);
    }
    return NULL;
}

/* Worker 0 crashes; the others work on, if they can. */
static void as_threads(void) {
    pthread_t thread;
    for (int i = 1; i < WORKERS; i++) {
        pthread_create(&thread, NULL, worker, &shared->beats[i]);
    }
    usleep(20000);
    crash();
}
/* <<< shown */

static int signal_of(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int still_beating(void) {
    long before[WORKERS];
    int alive = 0;
    for (int i = 0; i < WORKERS; i++) {
        before[i] = atomic_load(&shared->beats[i]);
    }
    usleep(50000);
    for (int i = 0; i < WORKERS; i++) {
        alive += atomic_load(&shared->beats[i]) > before[i];
    }
    return alive;
}

int main(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    pid_t others[WORKERS] = {0};
    for (int i = 1; i < WORKERS; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            prctl(PR_SET_PDEATHSIG,
                  SIGKILL); /* nothing is left should we be killed */
            worker(&shared->beats[i]);
        }
    }
    pid_t crasher = fork();
    if (crasher == 0) {
        crash();
        _exit(0);
    }
    printf("workers = %d\n", WORKERS);
    printf("process_signal = %d\n", signal_of(crasher));
    printf("processes_alive = %d\n", still_beating());
    for (int i = 1; i < WORKERS; i++) {
        if (others[i] > 0) {
            kill(others[i], SIGKILL);
            waitpid(others[i], NULL, 0);
        }
    }
    fflush(stdout);
    crasher = fork();
    if (crasher == 0) {
        as_threads();
        _exit(0);
    }
    printf("thread_signal = %d\n", signal_of(crasher));
    printf("threads_alive = %d\n", still_beating());
    return 0;
}
