// Measures one cell: the cold launch, the warm-up, the blocks.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "workload.hpp"

namespace driver {

struct Block {
    std::string_view temperature; // empty where the workload has none
    std::vector<Sample> samples;  // as many as were measured
    std::uint64_t start = 0;
    std::int64_t wall_ns = 0;
    std::int64_t minor_faults = 0;
    std::int64_t major_faults = 0;
    std::int64_t voluntary_switches = 0;
    std::int64_t involuntary_switches = 0;
    std::int64_t cpu_ns = 0;
    std::map<std::int32_t, double> effective_mhz;
};

// Everything is kept in memory. Throws Refusal where the machine cannot do what was asked.
std::vector<Block> measure(const Request &request);

} // namespace driver
