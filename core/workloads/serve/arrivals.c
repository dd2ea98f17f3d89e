#include "workloads/serve/load.h"

/* S. Vigna's splitmix64: any seed is good. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1.0p-53;
}

/* An exponential variate without a logarithm: J. von Neumann, "Various techniques used in connection with
 * random digits" (1951). Of falling runs, the first with an odd length gives the fraction, and each that is
 * even adds 1. */
static double exponential(uint64_t *state) {
    double whole = 0;
    for (;;) {
        double first = uniform(state);
        double last = first;
        double next = uniform(state);
        int length = 1;
        while (next < last) {
            last = next;
            next = uniform(state);
            length++;
        }
        if (length % 2 == 1) {
            return whole + first;
        }
        whole += 1;
    }
}

/* Gaps of a Poisson process, scaled to the period: as many arrivals as there shall be, each anywhere in it
 * (Poisson arrivals given their number). So the rate is what was asked for, in every period. */
static void plan_poisson(struct serve_result *results, int64_t count, int64_t length_ns, uint64_t seed) {
    uint64_t state = seed;
    double all = 0;
    for (int64_t i = 0; i <= count; i++) {
        all += exponential(&state);
    }
    state = seed;
    double at = 0;
    for (int64_t i = 0; i < count; i++) {
        at += exponential(&state);
        results[i].intended = (int64_t)(at / all * (double)length_ns);
    }
}

void arrivals_plan(struct serve_result *results, int64_t count, int64_t length_ns, bool poisson,
                   uint64_t seed) {
    if (poisson) {
        plan_poisson(results, count, length_ns, seed);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        results[i].intended = (int64_t)((double)length_ns / (double)count * (double)i);
    }
}
