// The clock that stamps launches, as the runner calibrated it: the TSC, or CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace driver {

struct Stamp {
    std::uint64_t ticks;
    std::int32_t cpu;
};

// Set once before measuring.
struct Clock {
    bool tsc = false;
    std::uint64_t hz = 1'000'000'000;
};
extern Clock clock_used;

bool has_tsc();

Stamp read_monotonic();

// The time first, then whatever finds the CPU: rdtscp names it in the same instruction (Linux keeps the CPU's
// number in IA32_TSC_AUX), and the lfence keeps later instructions from starting early.
inline Stamp read_clock() {
#if defined(__x86_64__)
    if (clock_used.tsc) {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        std::uint32_t aux = 0;
        asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux)::"memory");
        return {(std::uint64_t{high} << 32) | low, static_cast<std::int32_t>(aux & 0xfffU)};
    }
#endif
    return read_monotonic();
}

// Ticks as nanoseconds, to the nearest.
std::int64_t to_ns(std::int64_t ticks);

// Keeps the CPU busy for so long.
void spin(std::int64_t ns);

// By CLOCK_MONOTONIC, whatever the clock used.
std::int64_t monotonic_ns();

// Of the CPU this task is on: a chain of dependent operations whose cycles are known, the fastest of some
// tries. 0 where no chain is known.
double effective_mhz();

} // namespace driver
