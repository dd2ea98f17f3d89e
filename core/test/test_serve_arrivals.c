/* Arrivals of serve.*: in order, within their period, as many as there are; the same for the same seed; at
 * random like a Poisson process, or in equal steps. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "workloads/serve/load.h"

enum { COUNT = 20000 };
static const int64_t LENGTH_NS = 1000000000;

static void check_order(const struct serve_result *results) {
    for (int i = 0; i < COUNT; i++) {
        CHECK(results[i].intended >= 0 && results[i].intended <= LENGTH_NS, "number %d at %lld", i,
              (long long)results[i].intended);
        CHECK(i == 0 || results[i].intended >= results[i - 1].intended, "number %d comes too early", i);
    }
}

/* Of exponential gaps, the share that is longer than the mean is 1/e, and the variance is the mean squared.
 */
static void check_gaps(const struct serve_result *results) {
    double mean = (double)LENGTH_NS / COUNT;
    double squares = 0;
    int longer = 0;
    for (int i = 1; i < COUNT; i++) {
        double gap = (double)(results[i].intended - results[i - 1].intended);
        longer += gap > mean;
        squares += (gap - mean) * (gap - mean);
    }
    double share = (double)longer / COUNT;
    double variance = squares / COUNT / (mean * mean);
    CHECK(share > 0.35 && share < 0.39, "%.3f of the gaps are longer than the mean", share);
    CHECK(variance > 0.9 && variance < 1.1, "the variance is %.3f of the mean squared", variance);
}

int main(void) {
    struct serve_result *first = calloc(COUNT, sizeof *first);
    struct serve_result *second = calloc(COUNT, sizeof *second);
    CHECK(first != NULL && second != NULL, "no memory");
    arrivals_plan(first, COUNT, LENGTH_NS, true, 7);
    check_order(first);
    check_gaps(first);
    arrivals_plan(second, COUNT, LENGTH_NS, true, 7);
    CHECK(memcmp(first, second, COUNT * sizeof *first) == 0, "the same seed gives others");
    arrivals_plan(second, COUNT, LENGTH_NS, true, 8);
    CHECK(memcmp(first, second, COUNT * sizeof *first) != 0, "another seed gives the same");
    arrivals_plan(first, COUNT, LENGTH_NS, false, 0);
    check_order(first);
    for (int i = 0; i < COUNT; i++) {
        CHECK(first[i].intended == (int64_t)i * (LENGTH_NS / COUNT), "step %d is at %lld", i,
              (long long)first[i].intended);
    }
    free(first);
    free(second);
    return 0;
}
