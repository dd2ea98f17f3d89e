/* Quantiles of gaps from their bins: within a sixteenth of those of all gaps, none of more gaps than there
 * are. */
#include "workloads/cow/gaps.h"

#include <string.h>

#include "check.h"

static struct gaps gaps;

static void test_bins(void) {
    unsigned before = 0;
    for (uint64_t ticks = 1; ticks < (uint64_t)1 << 22; ticks++) {
        unsigned bin = gaps_bin(ticks);
        CHECK(bin == before || bin == before + 1U, "bin %u after %u at %llu", bin, before,
              (unsigned long long)ticks);
        before = bin;
    }
    CHECK(gaps_bin(UINT64_MAX) == GAPS_BINS - 1U, "the longest is in the last bin, not in %u",
          gaps_bin(UINT64_MAX));
}

static void test_quantiles(void) {
    static const uint64_t ONE_IN[] = {2, 10, 100, 1000, 10000};
    memset(&gaps, 0, sizeof gaps);
    for (uint64_t i = 1; i <= 10000; i++) {
        gaps_add(&gaps, i * 100);
    }
    for (unsigned i = 0; i < sizeof ONE_IN / sizeof ONE_IN[0]; i++) {
        uint64_t exact = (10000 - 10000 / ONE_IN[i] + 1) * 100;
        uint64_t gap = gaps_one_in(&gaps, ONE_IN[i]);
        CHECK(gap >= exact - exact / 16 && gap <= exact + exact / 16, "one in %llu: %llu, not %llu",
              (unsigned long long)ONE_IN[i], (unsigned long long)gap, (unsigned long long)exact);
    }
    CHECK(gaps_one_in(&gaps, 10001) == 0, "one in 10001 of 10000 gaps");
    CHECK(gaps.longest == 1000000 && gaps.count == 10000, "%llu gaps", (unsigned long long)gaps.count);
}

/* A few long ones among many short ones, and one that is beyond all bins. */
static void test_tail(void) {
    memset(&gaps, 0, sizeof gaps);
    CHECK(gaps_one_in(&gaps, 2) == 0, "no gap");
    for (int i = 0; i < 997; i++) {
        gaps_add(&gaps, 50);
    }
    gaps_add(&gaps, 1000000);
    gaps_add(&gaps, 2000000);
    gaps_add(&gaps, (uint64_t)1 << 60);
    uint64_t middle = gaps_one_in(&gaps, 2);
    uint64_t hundredth = gaps_one_in(&gaps, 100);
    uint64_t last = gaps_one_in(&gaps, 1000);
    CHECK(middle >= 48 && middle <= 52, "one in 2: %llu", (unsigned long long)middle);
    CHECK(hundredth >= 48 && hundredth <= 52, "one in 100: %llu", (unsigned long long)hundredth);
    CHECK(last > 2000000 && last <= (uint64_t)1 << 60, "one in 1000: %llu", (unsigned long long)last);
}

int main(void) {
    test_bins();
    test_quantiles();
    test_tail();
    return 0;
}
