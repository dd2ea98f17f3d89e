#include <set>

#include "answer.hpp"
#include "json.hpp"

namespace driver {

namespace {

void write_axis(Json &json, const Axis &axis) {
    json.open(axis.name, '{').text("type", axis.type).text("summary", axis.summary);
    if (axis.type == "choice") {
        json.text("default", axis.values.front()).open("values", '[');
        for (std::string_view value : axis.values) {
            json.text("", value);
        }
        json.close(']');
    } else {
        json.integer("default", 0).integer("minimum", 0);
    }
    json.close('}');
}

bool is_null(const Workload &workload, std::string_view column) {
    for (const auto &[name, reason] : workload.nulls) {
        if (name == column) {
            return true;
        }
    }
    return false;
}

void write_workload(Json &json, const Workload &workload) {
    json.open("", '{')
        .text("id", workload.id)
        .text("family", workload.family)
        .text("summary", workload.summary);
    json.open("axes", '[');
    for (std::string_view axis : workload.axes) {
        json.text("", axis);
    }
    json.close(']').open("temperatures", '[');
    if (workload.has_temperature) {
        json.text("", "cold").text("", "warm");
    }
    json.close(']').open("quantities", '[');
    for (const Column &column : workload.columns) {
        if (!column.summary.empty() && !is_null(workload, column.name)) {
            json.text("", column.name);
        }
    }
    json.close(']').open("nulls", '{');
    for (const auto &[column, reason] : workload.nulls) {
        json.text(column, reason);
    }
    json.close('}').null("call_returns_contains").boolean("available", true).null("reason").close('}');
}

} // namespace

std::string describe() {
    Json json;
    json.open("", '{')
        .open("driver", '{')
        .text("name", "cxx")
        .text("version", VERSION)
        .text("language", "C++");
    json.text("linkage", CLONOMETER_LINKAGE).integer("protocol", 1).text("compiler", __VERSION__).close('}');
    json.open("axes", '{');
    for (const Axis &axis : axes()) {
        write_axis(json, axis);
    }
    json.close('}').open("quantities", '{');
    std::set<std::string_view> written;
    for (const Workload &workload : workloads()) {
        for (const Column &column : workload.columns) {
            if (!column.summary.empty() && written.insert(column.name).second) {
                json.open(column.name, '{').text("unit", column.unit).text_or_null("stage", column.stage);
                json.text("summary", column.summary).close('}');
            }
        }
    }
    json.close('}').open("workloads", '[');
    for (const Workload &workload : workloads()) {
        write_workload(json, workload);
    }
    return json.close(']').open("lacks", '[').close(']').close('}').string();
}

} // namespace driver
