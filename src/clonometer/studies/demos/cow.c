/* fork copies no memory: a page is copied when parent or child first
 * writes to it. */
/* Build: gcc -O2 -o cow cow.c */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096L
#define PAGES 16384L /* 64 MiB */

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* >>> shown */
static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void in_the_child(volatile char *memory) {
    long before = faults(), sum = 0;
    for (long page = 0; page < PAGES; page++) {
        sum += memory[page * PAGE_BYTES]; /* reading copies nothing */
    }
    printf("faults_reading = %ld\n", faults() - before);
    before = faults();
    double start = now_us();
    for (long page = 0; page < PAGES / 4; page++) {
        memory[page * PAGE_BYTES] = 1; /* the first write copies the page */
    }
    double end = now_us();
    printf("faults_writing = %ld\n", faults() - before);
    printf("first_write_ns = %.0f\n", (end - start) * 1e3 / (PAGES / 4));
    /* <<< shown */
    start = now_us();
    for (long page = 0; page < PAGES / 4; page++) {
        memory[page * PAGE_BYTES] = 2;
    }
    end = now_us();
    printf("second_write_ns = %.0f\n", (end - start) * 1e3 / (PAGES / 4));
    printf("checksum = %ld\n", sum);
}

int main(void) {
    char *memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    memset(memory, 1, PAGES * PAGE_BYTES);
    char *copy = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (copy == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    double start = now_us();
    memcpy(copy, memory, PAGES * PAGE_BYTES);
    printf("memcpy_us = %.0f\n", now_us() - start);
    munmap(copy, PAGES * PAGE_BYTES);
    printf("pages = %ld\nwritten = %ld\n", PAGES, PAGES / 4);
    fflush(stdout);
    start = now_us();
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        return 1;
    }
    if (pid == 0) {
        in_the_child(memory);
        fflush(stdout);
        _exit(0);
    }
    double returned = now_us() - start;
    waitpid(pid, NULL, 0);
    printf("fork_us = %.0f\n", returned);
    printf("parent_still_reads = %d\n", memory[0]);
    return 0;
}
