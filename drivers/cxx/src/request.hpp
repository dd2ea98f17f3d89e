// What a driver is asked: key=value words (docs/protocol.md).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

struct Workload;

// What cannot be meant, or cannot be done here; the text is the reason in the answer.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Request {
    const Workload *workload = nullptr;
    bool cold = false;
    bool warm = true;
    std::int64_t samples = 200;
    std::int64_t blocks = 3;
    std::int64_t warmup = 20;
    std::int64_t block_limit_ns = 0;
    std::int64_t cpu = -1; // -1: the highest allowed
    std::int64_t clock_hz = 0;
    bool tsc = false;
    bool pinned = true;
    bool stamp_task = true;
    std::int64_t call_spin_ns = 0;
    std::int64_t stamp_spin_ns = 0;
    std::int64_t child_spin_ns = 0;
};

// Throws Refusal with what is wrong.
Request read_request(const std::vector<std::string_view> &words);

struct Axis {
    std::string_view name;
    std::string_view type; // "choice" or "count"
    std::vector<std::string_view> values;
    std::string_view summary;
};

// Axes as every driver must define them: the default of a choice is its first value, of a count 0.
const std::vector<Axis> &axes();

} // namespace driver
