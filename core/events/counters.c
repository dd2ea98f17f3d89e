#include "events/counters.h"

#include <linux/perf_event.h>
#include <string.h>

#define CACHE_READ_MISS(cache)                                                                               \
    ((uint64_t)(cache) | ((uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8) |                                      \
     ((uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16))

static const struct counter_set SETS[] = {
    {"hardware",
     {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
      {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
      {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
      {"tlb_misses", PERF_TYPE_HW_CACHE, CACHE_READ_MISS(PERF_COUNT_HW_CACHE_DTLB)}}},
    {"software",
     {{"cpu_clock_ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
      {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
      {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
      {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
      {"major_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ}}},
};

const struct counter_set *counter_set_named(const char *name) {
    for (size_t i = 0; i < sizeof SETS / sizeof SETS[0]; i++) {
        if (strcmp(SETS[i].name, name) == 0) {
            return &SETS[i];
        }
    }
    return NULL;
}

size_t reading_decode(const unsigned char *bytes, size_t length, size_t counters, struct reading *reading) {
    enum { HEAD_WORDS = 3 };
    uint64_t head[HEAD_WORDS];
    *reading = (struct reading){.enabled_ns = 0};
    if (length < sizeof head || counters > COUNTERS_MOST) {
        return 0;
    }
    memcpy(head, bytes, sizeof head);
    /* A count so large that its bytes would not fit in a number cannot be whole either. */
    if (head[0] < counters || head[0] > (length - sizeof head) / sizeof head[0]) {
        return 0;
    }
    reading->enabled_ns = head[1];
    reading->running_ns = head[2];
    memcpy(reading->values, bytes + sizeof head, counters * sizeof head[0]);
    return sizeof head + (size_t)head[0] * sizeof head[0];
}
