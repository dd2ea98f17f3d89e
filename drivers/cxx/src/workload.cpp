#include "workload.hpp"

#include <algorithm>

namespace driver {

const std::vector<Workload> &workloads() {
    static const std::vector<Workload> all = [] {
        std::vector<Workload> list = launch_workloads();
        for (Workload &workload : clock_workloads()) {
            list.push_back(std::move(workload));
        }
        return list;
    }();
    return all;
}

bool has_axis(const Workload &workload, std::string_view axis) {
    return std::find(workload.axes.begin(), workload.axes.end(), axis) != workload.axes.end();
}

} // namespace driver
