/* Trial division: what it finds, how it is written, and how often it divides: the study burian-2015 can be
 * quadratic only with as many divisions as it gives for N = 4,750, 9,500 and 19,000. */
#include "check.h"
#include "workloads/work/work.h"

static double millions(uint32_t numbers, bool at_root) {
    uint32_t factors[32];
    int64_t divisions = 0;
    for (uint32_t number = 1; number <= numbers; number++) {
        work_factors(number, at_root, factors, &divisions);
    }
    return (double)divisions / 1e6;
}

static bool about(double value, double published, double half_a_digit) {
    return value > published - half_a_digit && value < published + half_a_digit;
}

int main(void) {
    uint32_t factors[32];
    char line[WORK_LINE_BYTES];
    int64_t divisions = 0;
    for (int at_root = 0; at_root < 2; at_root++) {
        for (uint32_t number = 2; number < 5000; number++) {
            uint32_t product = 1;
            uint32_t last = 2;
            int count = work_factors(number, at_root == 1, factors, &divisions);
            for (int i = 0; i < count; i++) {
                CHECK(factors[i] >= last, "%u: factors do not rise", number);
                last = factors[i];
                product *= factors[i];
            }
            CHECK(count > 0 && product == number, "%u: the product is %u", number, product);
        }
        CHECK(work_factors(1, at_root == 1, factors, &divisions) == 0, "1 has no factor");
        CHECK(work_factors(4999, at_root == 1, factors, &divisions) == 1 && factors[0] == 4999,
              "4999 is prime");
        CHECK(work_factors(1U << 31, at_root == 1, factors, &divisions) == 31,
              "2 to the 31st has 31 factors");
    }
    int count = work_factors(360, false, factors, &divisions);
    line[work_line(360, factors, count, line)] = '\0';
    CHECK(strcmp(line, "360: 2 2 2 3 3 5\n") == 0, "said '%s'", line);
    line[work_line(1, factors, 0, line)] = '\0';
    CHECK(strcmp(line, "1:\n") == 0, "said '%s'", line);

    static const struct {
        uint32_t numbers;
        double whole, at_root;
    } PUBLISHED[] = {{4750, 2.5, 0.10}, {9500, 9.2, 0.25}, {19000, 33.9, 0.67}};
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof PUBLISHED[0]; i++) {
        double whole = millions(PUBLISHED[i].numbers, false);
        double at_root = millions(PUBLISHED[i].numbers, true);
        CHECK(about(whole, PUBLISHED[i].whole, 0.05), "%u: %f million", PUBLISHED[i].numbers, whole);
        CHECK(about(at_root, PUBLISHED[i].at_root, 0.005), "%u: %f million", PUBLISHED[i].numbers, at_root);
        CHECK(about(work_divisions(PUBLISHED[i].numbers, false) / 1e6, whole, whole / 3),
              "the guess is far off");
        CHECK(about(work_divisions(PUBLISHED[i].numbers, true) / 1e6, at_root, at_root / 3),
              "the guess is far off");
    }
    return 0;
}
