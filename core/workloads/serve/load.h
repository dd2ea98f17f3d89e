/* The client of serve.*: sends requests at their times and notes what became of each. */
#ifndef CLONOMETER_SERVE_LOAD_H
#define CLONOMETER_SERVE_LOAD_H

#include "workloads/serve/serve.h"

enum { LOAD_LEAST_REQUEST_BYTES = 64, LOAD_PATIENCE_NS = 2000000000 };

/* Starts the client's process, which waits for its periods. 0 or -errno. */
int load_start(struct serve *serve);

/* Ends it. */
void load_end(struct serve *serve);

/* arrivals.c: when each request is to be sent, from the start of a period of `length_ns`. `poisson`: at
 * random, independent of each other, as many as there are; else in equal steps. */
void arrivals_plan(struct serve_result *results, int64_t count, int64_t length_ns, bool poisson,
                   uint64_t seed);

#endif
