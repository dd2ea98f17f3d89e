#include "request.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "clock.hpp"
#include "workload.hpp"

namespace driver {

namespace {

constexpr std::int64_t MOST_SAMPLES = 10'000'000;
constexpr std::int64_t MOST_BLOCKS = 10'000;

std::string quoted(std::string_view text) {
    return "'" + std::string(text) + "'";
}

std::int64_t count_of(std::string_view key, std::string_view text) {
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || number < 0) {
        throw Refusal(std::string(key) + "=" + std::string(text) + ": not a whole number from 0");
    }
    return number;
}

bool choice_of(std::string_view key, std::string_view text, std::string_view first, std::string_view second) {
    if (text != first && text != second) {
        throw Refusal(std::string(key) + " has no value " + quoted(text));
    }
    return text == first;
}

void set_temperatures(Request &request, std::string_view text) {
    request.cold = text == "cold" || text == "cold,warm";
    request.warm = text == "warm" || text == "cold,warm";
    if (!request.cold && !request.warm) {
        throw Refusal("temperatures=" + std::string(text) + ": must be cold, warm or cold,warm");
    }
}

void set_workload(Request &request, std::string_view id) {
    for (const Workload &workload : workloads()) {
        if (workload.id == id) {
            request.workload = &workload;
            return;
        }
    }
    throw Refusal("unknown workload " + quoted(id));
}

using Setter = std::function<void(Request &, std::string_view)>;

Setter count(std::string_view key, std::int64_t Request::*field) {
    return [=](Request &request, std::string_view text) { request.*field = count_of(key, text); };
}

// `field` is whether the first of the two values was chosen.
Setter choice(std::string_view key, bool Request::*field, std::string_view first, std::string_view second) {
    return [=](Request &request, std::string_view text) {
        request.*field = choice_of(key, text, first, second);
    };
}

const std::map<std::string_view, Setter> &setters() {
    static const std::map<std::string_view, Setter> all = {
        {"workload", set_workload},
        {"temperatures", set_temperatures},
        {"samples", count("samples", &Request::samples)},
        {"blocks", count("blocks", &Request::blocks)},
        {"warmup", count("warmup", &Request::warmup)},
        {"block_limit_ns", count("block_limit_ns", &Request::block_limit_ns)},
        {"cpu", count("cpu", &Request::cpu)},
        {"clock", choice("clock", &Request::tsc, "tsc", "monotonic")},
        {"clock_hz", count("clock_hz", &Request::clock_hz)},
        {"placement", choice("placement", &Request::pinned, "pinned", "free")},
        {"stages", choice("stages", &Request::stamp_task, "all", "parent")},
        {"call_spin_ns", count("call_spin_ns", &Request::call_spin_ns)},
        {"stamp_spin_ns", count("stamp_spin_ns", &Request::stamp_spin_ns)},
        {"child_spin_ns", count("child_spin_ns", &Request::child_spin_ns)},
    };
    return all;
}

void check(const Request &request, const std::vector<std::string_view> &words) {
    if (request.workload == nullptr) {
        throw Refusal("no workload= was given");
    }
    if (request.samples < 1 || request.samples > MOST_SAMPLES || request.blocks > MOST_BLOCKS ||
        request.samples * request.blocks > MOST_SAMPLES) {
        throw Refusal("samples=" + std::to_string(request.samples) +
                      " in blocks=" + std::to_string(request.blocks) + ": at least 1, at most " +
                      std::to_string(MOST_SAMPLES) + " together");
    }
    if (request.tsc && (!has_tsc() || request.clock_hz < 1'000'000)) {
        throw Refusal("clock=tsc needs an x86-64 processor and clock_hz= as calibrated");
    }
    for (const Axis &axis : axes()) {
        bool given = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
            return word.substr(0, word.find('=')) == axis.name;
        });
        if (given && !has_axis(*request.workload, axis.name)) {
            throw Refusal(std::string(request.workload->id) + " has no axis " + quoted(axis.name));
        }
    }
}

} // namespace

const std::vector<Axis> &axes() {
    static const std::vector<Axis> all = {
        {"placement",
         "choice",
         {"pinned", "free"},
         "parent and child on one CPU, or where the scheduler puts them"},
        {"stages", "choice", {"all", "parent"}, "all stages, or the parent's stamps only"},
        {"call_spin_ns",
         "count",
         {},
         "known answer: the parent spins this long after its call, before its stamp"},
        {"stamp_spin_ns", "count", {}, "known answer: the new task spins this long before its stamp"},
        {"child_spin_ns", "count", {}, "known answer: the new task spins this long before it exits"},
    };
    return all;
}

Request read_request(const std::vector<std::string_view> &words) {
    Request request;
    for (std::string_view word : words) {
        std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) {
            throw Refusal(quoted(word) + " is not key=value");
        }
        auto setter = setters().find(word.substr(0, equals));
        if (setter == setters().end()) {
            throw Refusal("unknown key " + quoted(word.substr(0, equals)));
        }
        setter->second(request, word.substr(equals + 1));
    }
    check(request, words);
    return request;
}

} // namespace driver
