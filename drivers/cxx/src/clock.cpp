#include "clock.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <sched.h>

namespace driver {

Clock clock_used;

bool has_tsc() {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

std::int64_t monotonic_ns() {
    // libstdc++ and libc++ both build it on CLOCK_MONOTONIC.
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

Stamp read_monotonic() {
    auto ticks = static_cast<std::uint64_t>(monotonic_ns());
    return {ticks, sched_getcpu()};
}

std::int64_t to_ns(std::int64_t ticks) {
    if (!clock_used.tsc) {
        return ticks;
    }
    __extension__ using Wide = __int128;
    auto hz = static_cast<Wide>(clock_used.hz);
    Wide scaled = static_cast<Wide>(ticks) * 1'000'000'000;
    return static_cast<std::int64_t>((scaled + (scaled < 0 ? -hz / 2 : hz / 2)) / hz);
}

void spin(std::int64_t ns) {
    std::uint64_t start = read_clock().ticks;
    while (to_ns(static_cast<std::int64_t>(read_clock().ticks - start)) < ns) {
    }
}

namespace {

constexpr int CHAIN_LENGTH = 1600;
constexpr int CHAIN_TRIES = 20;

#if defined(__x86_64__)
// A multiplication of registers takes three cycles on every x86-64 core since 2008.
constexpr int CYCLES_EACH = 3;
void chain() {
    std::uint64_t value = 3;
    for (int i = 0; i < CHAIN_LENGTH / 8; i++) {
        asm volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
                     "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                     : "+r"(value));
    }
}
#elif defined(__aarch64__)
constexpr int CYCLES_EACH = 1;
void chain() {
    std::uint64_t value = 3;
    std::uint64_t other = 5;
    for (int i = 0; i < CHAIN_LENGTH / 8; i++) {
        asm volatile("eor %0, %0, %1\n\teor %0, %0, %1\n\teor %0, %0, %1\n\teor %0, %0, %1\n\t"
                     "eor %0, %0, %1\n\teor %0, %0, %1\n\teor %0, %0, %1\n\teor %0, %0, %1"
                     : "+r"(value)
                     : "r"(other));
    }
}
#else
constexpr int CYCLES_EACH = 0;
void chain() {
}
#endif

} // namespace

double effective_mhz() {
    if (CYCLES_EACH == 0) {
        return 0.0;
    }
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    for (int attempt = 0; attempt < CHAIN_TRIES; attempt++) {
        std::uint64_t start = read_clock().ticks;
        chain();
        best = std::min(best, read_clock().ticks - start);
    }
    return best == 0 ? 0.0
                     : CYCLES_EACH * CHAIN_LENGTH * (static_cast<double>(clock_used.hz) / 1e6) /
                           static_cast<double>(best);
}

} // namespace driver
