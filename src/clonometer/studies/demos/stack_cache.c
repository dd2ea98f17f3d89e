/* The C library keeps the stacks of threads that have gone and gives
 * them to the next ones. */
/* Build: gcc -O2 -pthread -o stack_cache stack_cache.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define THREADS 100

static pthread_mutex_t leave = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void *ends_at_once(void *place) {
    char local;
    *(uintptr_t *)place = (uintptr_t)&local; /* where its stack is */
    return NULL;
}

static void *waits(void *place) {
    char local;
    *(uintptr_t *)place = (uintptr_t)&local;
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&leave);
    pthread_mutex_unlock(&leave);
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

int main(void) {
    static uintptr_t place[THREADS];
    static pthread_t thread[THREADS];
    static double fresh[THREADS], reused[THREADS];
    pthread_barrier_init(&ready, NULL, 2);
    pthread_mutex_lock(&leave);
    long before = faults();
    /* >>> shown */
    for (int i = 0; i < THREADS;
         i++) { /* all alive at once: each needs a stack of its own */
        double start = now_us();
        if (pthread_create(&thread[i], NULL, waits, &place[i]) != 0) {
            return 1;
        }
        fresh[i] = now_us() - start;
        pthread_barrier_wait(&ready);
    }
    /* <<< shown */
    printf("fresh_faults = %.1f\n", (double)(faults() - before) / THREADS);
    pthread_mutex_unlock(&leave);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    int same = 0;
    before = faults();
    /* >>> shown */
    for (int i = 0; i < THREADS;
         i++) { /* one after another: the last one's stack is used again */
        double start = now_us();
        if (pthread_create(&thread[i], NULL, ends_at_once, &place[i]) != 0) {
            return 1;
        }
        reused[i] = now_us() - start;
        pthread_join(thread[i], NULL);
        same += i > 0 && place[i] == place[i - 1];
    }
    /* <<< shown */
    printf("reused_faults = %.1f\n", (double)(faults() - before) / THREADS);
    qsort(fresh, THREADS, sizeof *fresh, by_size);
    qsort(reused, THREADS, sizeof *reused, by_size);
    printf("threads = %d\nsame_stack = %d\n", THREADS, same);
    printf("fresh_us = %.2f\nreused_us = %.2f\n", fresh[THREADS / 2],
           reused[THREADS / 2]);
    return 0;
}
