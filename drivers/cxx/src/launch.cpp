// launch.std_thread, launch.std_jthread, launch.std_async
// Timed: from before the constructor of std::thread or std::jthread, or std::async with the policy async,
// until it returns, until the new thread's first own instruction, until join() or get() has returned.
// Outside: destroying the joined object, storing the sample. Bias: the library allocates the thread's state
// before it calls pthread_create and frees it in the thread; jthread has a stop state beside it, async a
// shared state with the result. In libstdc++ get() gives up the last reference to that state, whose
// destructor joins the thread: reaped contains the join there, and elsewhere perhaps only the result. As with
// every join, the thread may still be leaving the kernel on another CPU. Source: C++20
// [thread.thread.constr], [thread.jthread.cons], [futures.async].
#include <future>
#include <limits>
#include <thread>

#include "clock.hpp"
#include "workload.hpp"

namespace driver {

namespace {

void run(const Request &request, Sample &sample) {
    if (request.stamp_spin_ns > 0) {
        spin(request.stamp_spin_ns);
    }
    if (request.stamp_task) {
        Stamp stamp = read_clock();
        sample.task_runs = stamp.ticks;
        sample.cpu_task = stamp.cpu;
    }
    if (request.child_spin_ns > 0) {
        spin(request.child_spin_ns);
    }
}

void stamp_before(Sample &sample) {
    Stamp stamp = read_clock();
    sample.before = stamp.ticks;
    sample.cpu_before = stamp.cpu;
}

void stamp_call_returned(const Request &request, Sample &sample) {
    if (request.call_spin_ns > 0) {
        spin(request.call_spin_ns);
    }
    sample.call_returns = read_clock().ticks;
}

void stamp_reaped(Sample &sample) {
    Stamp stamp = read_clock();
    sample.reaped = stamp.ticks;
    sample.cpu_after = stamp.cpu;
}

template <typename Thread> void launch_thread(const Request &request, Sample &sample) {
    stamp_before(sample);
    Thread thread([&request, &sample] { run(request, sample); });
    stamp_call_returned(request, sample);
    thread.join();
    stamp_reaped(sample);
}

void launch_async(const Request &request, Sample &sample) {
    stamp_before(sample);
    std::future<void> result = std::async(std::launch::async, [&request, &sample] { run(request, sample); });
    stamp_call_returned(request, sample);
    result.get();
    stamp_reaped(sample);
}

Value since(std::uint64_t ticks, std::uint64_t start) {
    return ticks == 0 ? std::numeric_limits<std::int64_t>::min()
                      : to_ns(static_cast<std::int64_t>(ticks - start));
}

Value cpu(std::int32_t number) {
    return number < 0 ? std::numeric_limits<std::int32_t>::min() : number;
}

// A launch that failed has a start and no stage.
Value stage(const Sample &sample, std::uint64_t ticks) {
    return since(sample.error == 0 ? ticks : 0, sample.before);
}

const Column COLUMNS[] = {
    {"start_ns", "ns", "", "", [](const Sample &s, std::uint64_t start) { return since(s.before, start); }},
    {"call_returns_ns", "ns", "call_returns", "until the call returns in the parent",
     [](const Sample &s, std::uint64_t) { return stage(s, s.call_returns); }},
    {"task_runs_ns", "ns", "task_runs", "until the first instruction of the new task's own code",
     [](const Sample &s, std::uint64_t) { return stage(s, s.task_runs); }},
    {"image_runs_ns", "ns", "image_runs", "until the first line of the new program's main",
     [](const Sample &s, std::uint64_t) { return stage(s, 0); }},
    {"reaped_ns", "ns", "reaped", "until wait or join has returned",
     [](const Sample &s, std::uint64_t) { return stage(s, s.reaped); }},
    {"cpu_before", "cpu", "", "", [](const Sample &s, std::uint64_t) { return cpu(s.cpu_before); }},
    {"cpu_after", "cpu", "", "", [](const Sample &s, std::uint64_t) { return cpu(s.cpu_after); }},
    {"cpu_child", "cpu", "", "", [](const Sample &s, std::uint64_t) { return cpu(s.cpu_task); }},
    {"errno", "errno", "", "", [](const Sample &s, std::uint64_t) { return Value(s.error); }},
};

} // namespace

std::vector<Workload> launch_workloads() {
    std::vector<std::string_view> axes = {"placement", "stages", "call_spin_ns", "stamp_spin_ns",
                                          "child_spin_ns"};
    auto launch = [&](std::string_view id, std::string_view summary,
                      void (*measure)(const Request &, Sample &)) {
        return Workload{id,
                        "same_image",
                        summary,
                        axes,
                        true,
                        COLUMNS,
                        {{"image_runs_ns", "no new program is started"}},
                        measure};
    };
    return {
        launch("launch.std_thread", "std::thread, its function returns, join()", launch_thread<std::thread>),
        launch("launch.std_jthread", "std::jthread, its function returns, join()",
               launch_thread<std::jthread>),
        launch("launch.std_async", "std::async with the policy async, its function returns, get()",
               launch_async),
    };
}

} // namespace driver
