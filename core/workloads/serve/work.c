#include <time.h>

#include "base/sys.h"
#include "workloads/serve/serve.h"

enum { TRIES = 20, TRY_ITERATIONS = 100000 };

/* Each step needs the one before, and none needs memory. */
void serve_burn(uint64_t iterations) {
    uint64_t value = iterations;
    for (uint64_t i = 0; i < iterations; i++) {
        value = value * 6364136223846793005ULL + 1442695040888963407ULL;
        __asm__ volatile("" : "+r"(value));
    }
}

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The fastest try: interrupts and other tasks only lengthen one. */
uint64_t serve_calibrate(int64_t work_ns) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < TRIES && work_ns > 0; i++) {
        int64_t start = cpu_ns();
        serve_burn(TRY_ITERATIONS);
        int64_t took = cpu_ns() - start;
        best = took > 0 && took < best ? took : best;
    }
    return best == INT64_MAX ? 0 : (uint64_t)((double)work_ns * (double)TRY_ITERATIONS / (double)best);
}
