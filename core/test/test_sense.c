/* The sense of a shared core: additions that are really made, several at a time, as many in each call. */
#include "base/sense.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/sys.h"
#include "check.h"

enum { TRIES = 2000, MOST_IN_A_CYCLE = 6 };

int main(void) {
    struct clock_calibration calibration;
    struct sys_cpus allowed;
    CHECK(clock_calibrate(20000000, &calibration) == 0, "not calibrated");
    CHECK(sys_allowed(&allowed) == 0 && sys_pin(sys_highest_cpu(&allowed)) == 0, "not pinned");
    if (SENSE_ADDITIONS == 0) {
        CHECK(sense_additions() == 0, "additions of which nothing is known");
        return TEST_NOT_POSSIBLE;
    }
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint32_t ticks = sense_additions();
        least = ticks < least ? ticks : least;
    }
    CHECK(least > 0, "no time");
    /* An emulator's additions and chain have nothing to do with each other. */
    if (getenv("CORE_TEST_EMULATED") != NULL) {
        return TEST_NOT_POSSIBLE;
    }
    double cycles = (double)clock_ns(least) * clock_effective_mhz() / 1e3;
    CHECK(cycles == 0.0 || SENSE_ADDITIONS / cycles < MOST_IN_A_CYCLE + 1, "%f additions in a cycle",
          SENSE_ADDITIONS / cycles);
    /* One chain alone makes one in a cycle: on a core that nobody shares six chains make more, and they make
     * at least half as many on one that somebody does. */
    CHECK(cycles == 0.0 || SENSE_ADDITIONS / cycles > 0.5, "%f additions in a cycle",
          SENSE_ADDITIONS / cycles);
    return 0;
}
