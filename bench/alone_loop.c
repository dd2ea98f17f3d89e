/* A program of another make than the probe: launches between two short runs of additions, and prints the median, in ns,
 * of those launches whose additions took at most 5% more than the shortest. 0: there were fewer than 20. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { LAUNCHES = 1500, LEAST = 20 };
struct launch { double before, lasted, after; };
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
static double additions(void) {
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, by = 5;
    double start = now();
    for (int i = 0; i < 400; i++)
        __asm__ volatile("add %5,%0\n add %5,%1\n add %5,%2\n add %5,%3\n add %5,%4\n add %5,%0\n add %5,%1\n add %5,%2\n"
                         "add %5,%3\n add %5,%4\n add %5,%0\n add %5,%1\n add %5,%2\n add %5,%3\n add %5,%4\n"
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e) : "r"(by) : "cc");
    return now() - start;
}
static void *thread(void *argument) { return argument; }
static int rising(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }
int main(int argc, char **argv) {
    int threads = argc > 1 && argv[1][0] == 't', count = 0;
    double least = 1e18;
    /* Shared memory: its page tables are no part of what fork copies. */
    size_t bytes = LAUNCHES * (sizeof(struct launch) + sizeof(double));
    struct launch *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    double *chosen = (double *)(all + LAUNCHES);
    if (all == MAP_FAILED) return 1;
    for (int i = -50; i < LAUNCHES; i++) {
        struct launch this = {.before = additions()};
        double start = now();
        if (threads) {
            pthread_t id;
            pthread_create(&id, NULL, thread, NULL);
            pthread_join(id, NULL);
        } else {
            pid_t pid = fork();
            if (pid == 0) _exit(0);
            waitpid(pid, NULL, 0);
        }
        this.lasted = now() - start;
        this.after = additions();
        least = this.before < least ? this.before : least;
        if (i >= 0) all[i] = this;
    }
    for (int i = 0; i < LAUNCHES; i++)
        if (all[i].before <= 1.05 * least && all[i].after <= 1.05 * least) chosen[count++] = all[i].lasted;
    qsort(chosen, count, sizeof *chosen, rising);
    printf("%.1f\n", count < LEAST ? 0.0 : chosen[count / 2]);
}
