// clock.chrono_system, clock.chrono_steady, clock.chrono_high_resolution
// Timed: READINGS_EACH calls of now() in a row, between two readings of the clock that stamps launches.
// Outside: the watch over steps, which looks at as many readings after the timed ones. Bias: the loop and the
// framing readings belong to the cost, together below 1% of a call. A step is bounded below by the cost of a
// reading. What a clock states of its resolution is its period: the unit it counts in, not how often it
// moves. Source: C++20 [time.clock]; high_resolution_clock is another name of one of the two.
#include <algorithm>
#include <chrono>
#include <limits>

#include "clock.hpp"
#include "workload.hpp"

namespace driver {

namespace {

template <typename Clock> std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

template <typename Clock> void watch(Sample &sample) {
    std::int64_t last = now_ns<Clock>();
    std::int64_t smallest = 0;
    for (int i = 0; i < READINGS_EACH; i++) {
        std::int64_t reading = now_ns<Clock>();
        std::int64_t step = reading - last;
        last = reading;
        sample.backward_steps += step < 0;
        if (step > 0) {
            smallest = smallest == 0 ? step : std::min(smallest, step);
        }
    }
    sample.step_ns = smallest;
}

template <typename Clock> void measure(const Request &, Sample &sample) {
    Stamp start = read_clock();
    for (int i = 0; i < READINGS_EACH; i++) {
        auto now = Clock::now();
        // The reading is never used: without this the compiler might leave it out.
        asm volatile("" ::"r"(&now) : "memory");
    }
    sample.batch = read_clock().ticks - start.ticks;
    sample.cpu_before = start.cpu;
    watch<Clock>(sample);
    using Period = std::chrono::duration<std::int64_t, typename Clock::period>;
    sample.stated_resolution_ns =
        std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::nanoseconds>(Period(1)).count());
}

// A fraction of a nanosecond of other clocks (clock.rdtsc), whose column this is as well: both are of one
// type.
Value step(const Sample &sample, std::uint64_t) {
    return sample.step_ns > 0 ? static_cast<double>(sample.step_ns)
                              : std::numeric_limits<double>::quiet_NaN();
}

const Column COLUMNS[] = {
    {"cost_ns", "ns", "", "cost of one operation",
     [](const Sample &s, std::uint64_t) {
         return Value(static_cast<double>(to_ns(static_cast<std::int64_t>(s.batch))) / READINGS_EACH);
     }},
    {"step_ns", "ns", "", "the smallest step above zero between two readings in a row", step},
    {"stated_resolution_ns", "ns", "", "the clock's period",
     [](const Sample &s, std::uint64_t) { return Value(s.stated_resolution_ns); }},
    {"backward_steps", "count", "", "readings that are earlier than the one before",
     [](const Sample &s, std::uint64_t) { return Value(s.backward_steps); }},
};

} // namespace

std::vector<Workload> clock_workloads() {
    auto clock = [](std::string_view id, std::string_view summary, void (*read)(const Request &, Sample &)) {
        return Workload{id, "clock", summary, {"placement"}, false, COLUMNS, {}, read};
    };
    using std::chrono::high_resolution_clock;
    return {
        clock("clock.chrono_system", "one std::chrono::system_clock::now()",
              measure<std::chrono::system_clock>),
        clock("clock.chrono_steady", "one std::chrono::steady_clock::now()",
              measure<std::chrono::steady_clock>),
        clock("clock.chrono_high_resolution",
              high_resolution_clock::is_steady
                  ? "one std::chrono::high_resolution_clock::now(), here a steady clock"
                  : "one std::chrono::high_resolution_clock::now(), here the time of day, which may be set",
              measure<high_resolution_clock>),
    };
}

} // namespace driver
