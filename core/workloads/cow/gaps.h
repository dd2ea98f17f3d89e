/* How long the gaps between two writes were: counts in bins that grow with the gap, so that millions of gaps
 * take a few kilobytes and none is lost. */
#ifndef CLONOMETER_GAPS_H
#define CLONOMETER_GAPS_H

#include <stdint.h>

enum {
    GAPS_STEP_BITS = 4, /* each doubling in 16 bins: a bin is at most a sixteenth of its gap wide */
    GAPS_MOST_BITS = 36 /* ticks: half a minute and more, and what is longer is in the last bin */
};
enum { GAPS_BINS = (GAPS_MOST_BITS - GAPS_STEP_BITS + 1) << GAPS_STEP_BITS };

struct gaps {
    uint64_t count;
    uint64_t longest;
    uint32_t bins[GAPS_BINS];
};

/* The bin of a gap. */
static inline unsigned gaps_bin(uint64_t ticks) {
    if (ticks < (uint64_t)1 << GAPS_STEP_BITS) {
        return (unsigned)ticks;
    }
    unsigned octave = 63U - (unsigned)__builtin_clzll(ticks);
    unsigned step = (unsigned)(ticks >> (octave - GAPS_STEP_BITS)) & ((1U << GAPS_STEP_BITS) - 1U);
    unsigned bin = ((octave - GAPS_STEP_BITS + 1U) << GAPS_STEP_BITS) + step;
    return bin < GAPS_BINS ? bin : GAPS_BINS - 1U;
}

static inline void gaps_add(struct gaps *gaps, uint64_t ticks) {
    gaps->count++;
    gaps->bins[gaps_bin(ticks)]++;
    gaps->longest = ticks > gaps->longest ? ticks : gaps->longest;
}

/* The gap that one in `one_in` is as long as or longer, in ticks, interpolated in its bin; 0 where there are
 * fewer gaps than that. */
uint64_t gaps_one_in(const struct gaps *gaps, uint64_t one_in);

#endif
