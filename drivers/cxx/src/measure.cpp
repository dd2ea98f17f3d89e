#include "measure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include <sched.h>
#include <sys/resource.h>

#include "clock.hpp"

namespace driver {

namespace {

constexpr std::int64_t LATER_WARMUP = 3;  // launches before each later block
constexpr std::size_t FEWEST_SAMPLES = 3; // a block holds at least these, whatever its time limit
constexpr auto SETTLE = std::chrono::milliseconds(1);

// A mask as large as the kernel's largest: the C library's own type ends at 1024 CPUs.
using Mask = std::array<unsigned long, 4096 / (8 * sizeof(unsigned long))>;

void allow(const Mask &mask) {
    if (sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t *>(mask.data())) != 0) {
        throw Refusal(std::string("the CPU affinity cannot be set: ") + std::strerror(errno));
    }
}

Mask allowed() {
    Mask mask{};
    if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t *>(mask.data())) != 0) {
        throw Refusal(std::string("the CPU affinity cannot be read: ") + std::strerror(errno));
    }
    return mask;
}

Mask only(std::int64_t cpu) {
    constexpr std::int64_t bits = 8 * sizeof(unsigned long);
    Mask mask{};
    if (cpu < 0 || cpu >= static_cast<std::int64_t>(mask.size()) * bits) {
        throw Refusal("there is no CPU " + std::to_string(cpu));
    }
    mask[static_cast<std::size_t>(cpu / bits)] = 1UL << (cpu % bits);
    return mask;
}

std::int64_t highest(const Mask &mask) {
    constexpr std::int64_t bits = 8 * sizeof(unsigned long);
    for (std::int64_t cpu = static_cast<std::int64_t>(mask.size()) * bits - 1; cpu >= 0; cpu--) {
        if ((mask[static_cast<std::size_t>(cpu / bits)] >> (cpu % bits)) & 1U) {
            return cpu;
        }
    }
    return 0;
}

void launch_once(const Request &request, Sample &sample) {
    sample = Sample{};
    try {
        request.workload->measure(request, sample);
    } catch (const std::system_error &failed) {
        // The library passes on what the kernel said; a code of another kind is its own invention.
        sample.error = failed.code().value() > 0 ? failed.code().value() : EIO;
    }
}

std::int64_t cpu_ns(const rusage &usage) {
    return (std::int64_t{usage.ru_utime.tv_sec} + usage.ru_stime.tv_sec) * 1'000'000'000 +
           (std::int64_t{usage.ru_utime.tv_usec} + usage.ru_stime.tv_usec) * 1000;
}

// After the block, never before the cold launch: the chain would warm the core up.
void measure_frequency(const Request &request, Block &block) {
    if (request.pinned) {
        block.effective_mhz[read_clock().cpu] = effective_mhz();
        return;
    }
    for (const Sample &sample : block.samples) {
        for (std::int32_t cpu : {sample.cpu_before, sample.cpu_task}) {
            if (cpu >= 0 && block.effective_mhz.size() < 8) {
                block.effective_mhz.try_emplace(cpu, 0.0);
            }
        }
    }
    Mask home = allowed();
    for (auto &[cpu, mhz] : block.effective_mhz) {
        allow(only(cpu));
        mhz = effective_mhz();
    }
    allow(home);
}

Block measure_block(const Request &request, std::string_view temperature, std::int64_t rows) {
    Block block;
    block.temperature = temperature;
    // Made and written before anything is timed.
    block.samples.resize(static_cast<std::size_t>(rows));
    rusage before{};
    rusage after{};
    std::size_t filled = 0;
    getrusage(RUSAGE_SELF, &before);
    std::int64_t wall_start = monotonic_ns();
    block.start = read_clock().ticks;
    while (filled < block.samples.size()) {
        launch_once(request, block.samples[filled++]);
        auto lasted = static_cast<std::int64_t>(read_clock().ticks - block.start);
        if (request.block_limit_ns > 0 && filled >= FEWEST_SAMPLES &&
            to_ns(lasted) > request.block_limit_ns) {
            break;
        }
    }
    block.wall_ns = monotonic_ns() - wall_start;
    getrusage(RUSAGE_SELF, &after);
    block.samples.resize(filled);
    block.minor_faults = after.ru_minflt - before.ru_minflt;
    block.major_faults = after.ru_majflt - before.ru_majflt;
    block.voluntary_switches = after.ru_nvcsw - before.ru_nvcsw;
    block.involuntary_switches = after.ru_nivcsw - before.ru_nivcsw;
    block.cpu_ns = cpu_ns(after) - cpu_ns(before);
    measure_frequency(request, block);
    return block;
}

void warm_up(const Request &request, std::int64_t launches) {
    Sample scrap;
    std::int64_t start = monotonic_ns();
    for (std::int64_t i = 0; i < launches; i++) {
        if (request.block_limit_ns > 0 && monotonic_ns() - start > request.block_limit_ns) {
            return;
        }
        launch_once(request, scrap);
    }
}

} // namespace

std::vector<Block> measure(const Request &request) {
    clock_used = {request.tsc, request.tsc ? static_cast<std::uint64_t>(request.clock_hz) : 1'000'000'000};
    if (request.pinned) {
        allow(only(request.cpu >= 0 ? request.cpu : highest(allowed())));
    }
    bool temperatures = request.workload->has_temperature;
    std::vector<Block> blocks;
    blocks.reserve(static_cast<std::size_t>(request.blocks + 1));
    if (temperatures && request.cold) {
        blocks.push_back(measure_block(request, "cold", 1));
    }
    for (std::int64_t i = 0; i < request.blocks && (!temperatures || request.warm); i++) {
        std::this_thread::sleep_for(SETTLE);
        warm_up(request, i == 0 ? request.warmup : std::min(request.warmup, LATER_WARMUP));
        blocks.push_back(measure_block(request, temperatures ? "warm" : "", request.samples));
    }
    return blocks;
}

} // namespace driver
