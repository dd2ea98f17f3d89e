#include "probe/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/clone.h"
#include "base/json.h"
#include "base/sys.h"
#include "probe/answer.h"
#include "probe/samples.h"
#include "probe/workload.h"
#include "workloads/launch/launch.h"

enum { CATALOGUE_BYTES = 1 << 20 };

static void write_unavailable(struct json *json, const struct option *option) {
    if (option->available == NULL) {
        return;
    }
    json_open(json, "unavailable", '{');
    for (int64_t i = 0; option->key.choices[i] != NULL; i++) {
        struct reason reason = {""};
        if (option->available(i, &reason) != 0) {
            json_text(json, option->key.choices[i], reason.text);
        }
    }
    json_close(json, '}');
}

static void write_axis(struct json *json, const struct option *option) {
    static const char *const KINDS[] = {"count", "bytes", "choice", "text"};
    json_open(json, option->key.name, '{');
    json_text(json, "type", KINDS[option->key.kind]);
    json_text(json, "summary", option->summary);
    if (option->key.kind == KEY_TEXT) {
        json_text(json, "default", option->text);
        if (option->form != NULL) {
            json_text(json, "form", option->form);
        }
    } else if (option->key.kind == KEY_CHOICE) {
        json_text(json, "default", option->key.choices[option->fallback]);
        json_open(json, "values", '[');
        for (size_t i = 0; option->key.choices[i] != NULL; i++) {
            json_text(json, NULL, option->key.choices[i]);
        }
        json_close(json, ']');
        write_unavailable(json, option);
    } else {
        json_int(json, "default", option->fallback);
        json_int(json, "minimum", option->key.least);
    }
    json_close(json, '}');
}

static bool any_has_axis(const char *axis) {
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        if (workload_has_axis(WORKLOADS[i], axis)) {
            return true;
        }
    }
    return false;
}

static const struct null_reason *nulls_of(const struct workload *workload) {
    return workload->answers.nulls_here != NULL ? workload->answers.nulls_here() : workload->answers.nulls;
}

static bool is_null(const struct workload *workload, const char *column) {
    for (const struct null_reason *null = nulls_of(workload); null != NULL && null->column != NULL; null++) {
        if (strcmp(null->column, column) == 0) {
            return true;
        }
    }
    return false;
}

/* Flags that are exactly known as a number, those that a library sets at least by name. */
static void write_clone(struct json *json, const struct clone_facts *clone) {
    char flags[24];
    bool exact = clone != NULL && clone->exact;
    snprintf(flags, sizeof flags, "0x%" PRIx64, exact ? clone->flags : 0);
    json_text(json, "clone_flags", exact ? flags : NULL);
    json_open(json, "clone_flags_contain", '[');
    for (unsigned bit = 0; clone != NULL && bit < 64; bit++) {
        if (((clone->flags >> bit) & 1U) != 0) {
            json_text(json, NULL, clone_flag_name(bit));
        }
    }
    json_close(json, ']');
    json_text(json, "reaped_by", clone != NULL ? clone->reaped_by : NULL);
    json_text(json, "step_from", clone != NULL ? clone->step_from : NULL);
}

static void write_distributions(struct json *json, const struct workload *workload) {
    if (workload->answers.distributions == NULL) {
        return;
    }
    json_text(json, "distributions_of", workload->answers.distributions_of);
    json_open(json, "distributions", '[');
    for (const struct distribution *distribution = workload->answers.distributions;
         distribution->name != NULL; distribution++) {
        json_open(json, NULL, '{');
        json_text(json, "name", distribution->name);
        json_text(json, "count", distribution->count);
        json_open(json, "steps", '{');
        for (int i = 0; i < LADDER_MOST_STEPS && distribution->steps[i].quantity != NULL; i++) {
            json_int(json, distribution->steps[i].quantity, distribution->steps[i].one_in);
        }
        json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_workload(struct json *json, const struct workload *workload) {
    json_open(json, NULL, '{');
    json_text(json, "id", workload->id);
    json_text(json, "family", workload->family);
    json_text(json, "summary", workload->summary);
    json_open(json, "axes", '[');
    for (size_t i = 0; workload->axes[i] != NULL; i++) {
        json_text(json, NULL, workload->axes[i]);
    }
    json_close(json, ']');
    json_open(json, "temperatures", '[');
    if (workload->has_temperature) {
        json_text(json, NULL, "cold");
        json_text(json, NULL, "warm");
    }
    json_close(json, ']');
    json_open(json, "quantities", '[');
    for (const struct column *column = workload->answers.columns; column->name != NULL; column++) {
        if (column->summary != NULL && !is_null(workload, column->name)) {
            json_text(json, NULL, column->name);
        }
    }
    json_close(json, ']');
    json_open(json, "nulls", '{');
    for (const struct null_reason *null = nulls_of(workload); null != NULL && null->column != NULL; null++) {
        json_text(json, null->column, null->reason);
    }
    json_close(json, '}');
    json_bool(json, "phases", workload->answers.phases);
    if (workload->counts_only) {
        json_bool(json, "once", true);
    }
    write_distributions(json, workload);
    json_text(json, "call_returns_contains", workload->answers.call_returns_contains);
    write_clone(json, workload->task.facts);
    struct reason reason = {""};
    bool available = workload->needs.available == NULL || workload->needs.available(&reason) == 0;
    json_bool(json, "available", available);
    json_text(json, "reason", available ? NULL : reason.text);
    json_close(json, '}');
}

static bool is_detail(const struct workload *workload, const char *column) {
    for (const char *const *name = workload->answers.details; name != NULL && *name != NULL; name++) {
        if (strcmp(*name, column) == 0) {
            return true;
        }
    }
    return false;
}

/* A quantity of several workloads is written once. */
static bool first_with(const struct workload *const *at, const struct column *wanted) {
    for (const struct workload *const *other = WORKLOADS; other != at; other++) {
        for (const struct column *column = (*other)->answers.columns; column->name != NULL; column++) {
            if (strcmp(column->name, wanted->name) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void write_quantities(struct json *json) {
    json_open(json, "quantities", '{');
    for (const struct workload *const *at = WORKLOADS; *at != NULL; at++) {
        for (const struct column *column = (*at)->answers.columns; column->name != NULL; column++) {
            if (column->summary != NULL && first_with(at, column)) {
                json_open(json, column->name, '{');
                json_text(json, "unit", answer_unit(column->kind));
                json_text(json, "stage", column->stage);
                if (launch_point(column->stage) != NULL) {
                    json_text(json, "point", launch_point(column->stage));
                }
                json_bool(json, "signed", answer_signed(column->kind));
                json_bool(json, "detail", is_detail(*at, column->name));
                json_text(json, "summary", column->summary);
                json_close(json, '}');
            }
        }
    }
    json_close(json, '}');
}

static void write_driver(struct json *json) {
    json_open(json, "driver", '{');
    json_text(json, "name", "probe");
    json_text(json, "version", CLONOMETER_VERSION);
    json_text(json, "language", "C");
    json_text(json, "linkage", options_linkage());
    json_int(json, "protocol", 1);
    json_text(json, "compiler", __VERSION__);
    json_close(json, '}');
}

static void write_lacks(struct json *json) {
    json_open(json, "lacks", '[');
    if (access("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", F_OK) != 0) {
        json_open(json, NULL, '{');
        json_text(json, "what", "frequency");
        json_text(json, "reason",
                  "no /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq: this kernel cannot set the "
                  "frequency (a virtual machine, or no cpufreq driver)");
        json_close(json, '}');
    }
#if !CLOCK_HAS_TSC
    json_open(json, NULL, '{');
    json_text(json, "what", "clock=tsc");
    json_text(json, "reason", "this architecture has no TSC; CLOCK_MONOTONIC stamps launches");
    json_close(json, '}');
#endif
    json_close(json, ']');
}

static int send(int fd, struct json *json) {
    if (json->overflow) {
        return -EOVERFLOW;
    }
    int error = sys_write_all(fd, json->buffer, json->length);
    return error != 0 ? error : sys_write_all(fd, "\n", 1);
}

int describe(int fd) {
    struct arena arena;
    int error = arena_map(&arena, CATALOGUE_BYTES, false);
    if (error != 0) {
        return error;
    }
    struct json json;
    json_start(&json, (char *)arena.memory, CATALOGUE_BYTES);
    json_open(&json, NULL, '{');
    write_driver(&json);
    json_open(&json, "axes", '{');
    for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
        if (OPTIONS[i].axis && any_has_axis(OPTIONS[i].key.name)) {
            write_axis(&json, &OPTIONS[i]);
        }
    }
    json_close(&json, '}');
    write_quantities(&json);
    json_open(&json, "workloads", '[');
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        write_workload(&json, WORKLOADS[i]);
    }
    json_close(&json, ']');
    write_lacks(&json);
    json_close(&json, '}');
    return send(fd, &json);
}

int describe_clock(int fd) {
    /* The two readings are good to 50 ns: a rate good to 1 in 10^6. */
    enum { SPAN_NS = 50000000, BYTES = 1024 };
    struct clock_calibration calibration;
    int error = clock_calibrate(SPAN_NS, &calibration);
    if (error != 0) {
        return error;
    }
    bool tsc = calibration.clock.kind == CLOCK_KIND_TSC;
    char buffer[BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "clock", tsc ? "tsc" : "monotonic");
    json_int(&json, "clock_hz", (int64_t)calibration.clock.hz);
    json_double(&json, "cost_ns", calibration.cost_ns);
    json_text(&json, "reason", calibration.reason);
    json_text(&json, "method",
              tsc ? "rdtscp+lfence, its rate against CLOCK_MONOTONIC_RAW over 50 ms" : "clock_gettime");
    json_close(&json, '}');
    return send(fd, &json);
}
