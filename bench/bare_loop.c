/* The bare loop that the probe is held against: create, reap, repeat; prints nanoseconds a launch of each of 30 parts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *thread(void *argument) { return argument; }
static void *leaver(void *argument) { pthread_exit(argument); }
static void launch(void *(*start)(void *)) {
    pthread_t id;
    pid_t pid = start ? 0 : fork();
    if (!start && pid == 0) _exit(0);
    if (start) { pthread_create(&id, NULL, start, NULL); pthread_join(id, NULL); } else waitpid(pid, NULL, 0);
}
int main(int argc, char **argv) {
    enum { PARTS = 30 };
    struct timespec at[PARTS + 1];
    char kind = argc > 1 ? argv[1][0] : 'p'; /* p: process, t: thread that returns, x: thread that calls pthread_exit */
    void *(*start)(void *) = kind == 't' ? thread : kind == 'x' ? leaver : NULL;
    int count = argc > 2 ? atoi(argv[2]) : 10000;
    for (int i = 0; i < 20; i++) launch(start);
    clock_gettime(CLOCK_MONOTONIC, &at[0]);
    for (int part = 1; part <= PARTS; part++) {
        for (int i = 0; i < count / PARTS; i++) launch(start);
        clock_gettime(CLOCK_MONOTONIC, &at[part]);
    }
    for (int part = 0; part < PARTS; part++) {
        struct timespec a = at[part], b = at[part + 1];
        printf("%.1f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / (count / PARTS));
    }
}
