// A workload is a function that fills one sample, and the columns that it fills.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "request.hpp"

namespace driver {

// Ticks of the clock used, unless the name says ns. Zero ticks: not stamped.
struct Sample {
    std::uint64_t before = 0;
    std::uint64_t call_returns = 0;
    std::uint64_t task_runs = 0;
    std::uint64_t reaped = 0;
    std::uint64_t batch = 0; // for all readings of a clock
    std::int64_t step_ns = 0;
    std::int64_t stated_resolution_ns = 0;
    std::int64_t backward_steps = 0;
    std::int32_t cpu_before = -1;
    std::int32_t cpu_after = -1;
    std::int32_t cpu_task = -1;
    std::int32_t error = 0; // 0, or the errno of a launch that failed
};

using Value = std::variant<std::int32_t, std::int64_t, double>;

struct Column {
    std::string_view name;
    std::string_view unit;
    std::string_view stage;   // empty: none
    std::string_view summary; // empty: a fact about the sample, no quantity
    // The value of a sample whose block began at `block_start`, null where it has none.
    Value (*value)(const Sample &sample, std::uint64_t block_start);
};

struct Workload {
    std::string_view id;
    std::string_view family;
    std::string_view summary;
    std::vector<std::string_view> axes;
    bool has_temperature;
    std::span<const Column> columns;
    std::vector<std::pair<std::string_view, std::string_view>> nulls; // column, why it is always null
    // Fills the sample. It throws std::system_error where a task cannot be started.
    void (*measure)(const Request &request, Sample &sample);
};

constexpr int READINGS_EACH = 1000; // readings of a clock in a sample

const std::vector<Workload> &workloads();
std::vector<Workload> launch_workloads();
std::vector<Workload> clock_workloads();

bool has_axis(const Workload &workload, std::string_view axis);

} // namespace driver
