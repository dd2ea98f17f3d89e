/* A beginner's error: every thread is given the address of the loop
 * variable, which goes on changing. */
/* Build: gcc -O2 -pthread -o argument_race argument_race.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define THREADS 1000
#define STACK_BYTES (64 * 1024)

static struct {
    pthread_t self;
    int number;
} seen[THREADS];
static atomic_int arrived;

static void note(int number) {
    int slot = atomic_fetch_add(&arrived, 1);
    seen[slot].self = pthread_self();
    seen[slot].number = number;
}

/* >>> shown */
static void *reads_address(void *argument) {
    note(*(volatile int *)argument); /* what stands there by now */
    return NULL;
}

static void *takes_value(void *argument) {
    note((int)(intptr_t)argument); /* the pointer is the number */
    return NULL;
}

static int start_by_address(int *threads, pthread_t *ids,
                            pthread_attr_t *attributes) {
    int i; /* one variable for all of them */
    for (i = 0; i < *threads; i++) {
        if (pthread_create(&ids[i], attributes, reads_address, &i) != 0) {
            break;
        }
    }
    /* <<< shown */
    printf("address = %p\n", (void *)&i);
    *threads = i;
    return 0;
}

static int start_by_value(int *threads, pthread_t *ids,
                          pthread_attr_t *attributes) {
    int i = 0;
    /* >>> shown */
    /* Right: the number itself. */
    while (i < *threads && pthread_create(&ids[i], attributes, takes_value,
                                          (void *)(intptr_t)i) == 0) {
        i++;
    }
    /* <<< shown */
    *threads = i;
    return 0;
}

static int start_by_element(int *threads, pthread_t *ids,
                            pthread_attr_t *attributes) {
    int i = 0;
    /* >>> shown */
    /* Right: a number for each, which outlives the loop. */
    static int numbers[THREADS];
    for (; i < *threads; i++) {
        numbers[i] = i;
        if (pthread_create(&ids[i], attributes, reads_address, &numbers[i]) !=
            0) {
            break;
        }
    }
    /* <<< shown */
    *threads = i;
    return 0;
}

/* Joins them all and counts those that noted another number than theirs. */
static int wrong(int threads, const pthread_t *ids) {
    int count = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    for (int i = 0; i < threads; i++) {
        for (int slot = 0; slot < threads; slot++) {
            if (pthread_equal(seen[slot].self, ids[i])) {
                count += seen[slot].number != i;
            }
        }
    }
    return count;
}

int main(void) {
    static pthread_t ids[THREADS];
    int (*const ways[])(int *, pthread_t *, pthread_attr_t *) = {
        start_by_address, start_by_value, start_by_element};
    const char *const names[] = {"address", "value", "element"};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int way = 0; way < 3; way++) {
        int threads = THREADS;
        memset(seen, 0, sizeof seen);
        atomic_store(&arrived, 0);
        ways[way](&threads, ids, &attributes);
        printf("%s_threads = %d\n%s_wrong = %d\n", names[way], threads,
               names[way], wrong(threads, ids));
    }
    pthread_attr_destroy(&attributes);
    return 0;
}
