/* The clock: rates converted exactly, stamps that never go back on one CPU, spins at least as long as asked.
 */
#include "base/clock.h"
#include "base/sys.h"
#include "check.h"

static void conversion(void) {
    clock_used = (struct clock){.kind = CLOCK_KIND_TSC, .hz = 2500000000U};
    CHECK(clock_ns(5) == 2 && clock_ns(4) == 2 && clock_ns(-5) == -2, "rounding: %lld",
          (long long)clock_ns(5));
    CHECK(clock_ns(9000000000000000000LL) == 3600000000000000000LL, "128 bits");
    clock_used = (struct clock){.kind = CLOCK_KIND_MONOTONIC, .hz = 1000000000U};
    CHECK(clock_ns(123) == 123, "nanoseconds are themselves");
}

int main(void) {
    conversion();
    struct clock_calibration calibration;
    CHECK(clock_calibrate(20000000, &calibration) == 0, "not calibrated");
    CHECK(calibration.reason != NULL && calibration.cost_ns > 0, "cost %f", calibration.cost_ns);
    CHECK(clock_used.hz >= 100000000U && clock_used.hz <= 20000000000U, "%llu Hz",
          (unsigned long long)clock_used.hz);
    struct sys_cpus allowed;
    CHECK(sys_allowed(&allowed) == 0 && sys_highest_cpu(&allowed) >= 0, "no CPU is allowed");
    int cpu = sys_highest_cpu(&allowed);
    CHECK(sys_pin(cpu) == 0, "not pinned");
    struct stamp last = clock_read();
    for (int i = 0; i < 100000; i++) {
        struct stamp now = clock_read();
        CHECK(now.ticks >= last.ticks, "the clock went back");
        CHECK(now.cpu == (uint32_t)cpu, "stamped CPU %u, pinned to %d", now.cpu, cpu);
        last = now;
    }
    uint64_t start = clock_read().ticks;
    clock_spin(200000);
    CHECK(clock_ns((int64_t)(clock_read().ticks - start)) >= 200000, "spun too short");
    double mhz = clock_effective_mhz();
    CHECK(mhz == 0.0 || (mhz > 50 && mhz < 20000), "%f MHz", mhz);
    return 0;
}
