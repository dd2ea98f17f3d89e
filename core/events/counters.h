/* Counters that are read at every event: which there are, and what a reading says. Pure. */
#ifndef CLONOMETER_EVENTS_COUNTERS_H
#define CLONOMETER_EVENTS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS_MOST = 5 };

struct counter {
    const char *name;
    uint32_t type; /* PERF_TYPE_* */
    uint64_t config;
};

/* All of a set, in the order in which they are given up where the processor has too few: the last first. */
struct counter_set {
    const char *name; /* "hardware", or "software", which every machine has */
    struct counter counter[COUNTERS_MOST];
};

/* NULL where there is no set of that name. */
const struct counter_set *counter_set_named(const char *name);

/* What a group of counters showed. `values` never go back; they count while the group is on the processor,
 * which it was for `running_ns` of `enabled_ns`. */
struct reading {
    uint64_t enabled_ns;
    uint64_t running_ns;
    uint64_t values[COUNTERS_MOST];
};

/* The reading at the start of `bytes` (PERF_FORMAT_GROUP with both times), of which the first `counters`
 * values are kept: those behind are of the events that are in the group too. How many bytes it has; 0 where
 * it is cut or has fewer values. */
size_t reading_decode(const unsigned char *bytes, size_t length, size_t counters, struct reading *reading);

#endif
