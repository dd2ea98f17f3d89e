#include "workloads/cow/gaps.h"

/* The least gap of a bin. */
static uint64_t start_of(unsigned bin) {
    unsigned octave = bin >> GAPS_STEP_BITS;
    uint64_t step = bin & ((1U << GAPS_STEP_BITS) - 1U);
    return octave == 0 ? step : (((uint64_t)1 << GAPS_STEP_BITS) + step) << (octave - 1U);
}

uint64_t gaps_one_in(const struct gaps *gaps, uint64_t one_in) {
    uint64_t wanted = one_in > 0 ? gaps->count / one_in : 0; /* counted from the longest one */
    uint64_t longer = 0;
    if (wanted == 0) {
        return 0;
    }
    unsigned bin = GAPS_BINS - 1U;
    while (bin > 0 && longer + gaps->bins[bin] < wanted) {
        longer += gaps->bins[bin];
        bin--;
    }
    uint64_t low = start_of(bin);
    uint64_t high = bin + 1U < GAPS_BINS ? start_of(bin + 1U) : gaps->longest + 1U;
    high = high > gaps->longest ? gaps->longest + 1U : high;
    /* As if those of a bin were spread evenly over it. */
    uint64_t inside = gaps->bins[bin] > 0 ? (wanted - longer) : 0;
    uint64_t down = gaps->bins[bin] > 0 ? (high - low) * inside / (gaps->bins[bin] + 1U) : 0;
    uint64_t quantile = high > down + low ? high - down : low;
    return quantile > gaps->longest ? gaps->longest : quantile;
}
