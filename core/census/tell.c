/* The answer: JSON, a line a task (docs/census.md), which refers to a line with all that others have in
 * common with it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clone.h"
#include "base/json.h"
#include "call_names.h"
#include "census/answer.h"
#include "census/census.h"
#include "census/kinds.h"
#include "census/symbols.h"

enum { LINE_BYTES = 8192, SITE_BYTES = 1 << 18, FLAG_BITS = 64 };

static const char *call_name(int64_t number) {
    for (size_t i = 0; i < sizeof CALL_NAMES / sizeof CALL_NAMES[0]; i++) {
        if (CALL_NAMES[i].number == number) {
            return CALL_NAMES[i].name;
        }
    }
    return NULL;
}

static int send(const struct census *census, struct json *json) {
    if (json->overflow || json->length + 1 > json->capacity) {
        return -EOVERFLOW;
    }
    json->buffer[json->length++] = '\n';
    return answer_add(census->answer, json->buffer, json->length);
}

static int send_now(const struct census *census, struct json *json) {
    int error = send(census, json);
    return error != 0 ? error : answer_send(census->answer);
}

/* What was not seen is null. */
static void write_known(struct json *json, const char *key, int64_t number) {
    if (number >= 0) {
        json_int(json, key, number);
    } else {
        json_text(json, key, NULL);
    }
}

static void write_flags(struct json *json, uint64_t flags) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, flags);
    json_text(json, "flags", text);
    json_open(json, "flag_names", '[');
    for (unsigned bit = 0; bit < FLAG_BITS; bit++) {
        if (((flags >> bit) & 1U) != 0) {
            json_text(json, NULL, clone_flag_name(bit) != NULL ? clone_flag_name(bit) : "unknown");
        }
    }
    json_close(json, ']');
}

static void write_did(struct json *json, const struct census_did *did) {
    if (!did->known) {
        json_text(json, "did", NULL);
        return;
    }
    json_open(json, "did", '{');
    for (int kind = 0; PREPARING_CALLS[kind].name != NULL; kind++) {
        if (did->times[kind] > 0) {
            json_int(json, PREPARING_CALLS[kind].name, did->times[kind]);
        }
    }
    if (did->closes > 0) {
        json_int(json, "close", did->closes);
    }
    if (did->handlers > 0) {
        json_int(json, "rt_sigaction", did->handlers);
    }
    json_close(json, '}');
    json_bool(json, "did_cut", did->cut);
}

/* Groups that were met since the last task. */
static void tell_cgroups(struct census *census) {
    char buffer[LINE_BYTES];
    while (census->cgroups != NULL && census->cgroups_told < census->cgroups->count) {
        struct json json;
        json_start(&json, buffer, sizeof buffer);
        json_open(&json, NULL, '{');
        json_text(&json, "line", "cgroup");
        json_int(&json, "cgroup", (int64_t)census->cgroups_told);
        json_text(&json, "path", census->cgroups->path[census->cgroups_told++]);
        json_close(&json, '}');
        (void)send(census, &json);
    }
}

static void tell_kind(const struct census *census, unsigned kind, const struct census_task *task) {
    char buffer[LINE_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "kind");
    json_int(&json, "kind", kind);
    json_text(&json, "call", call_name(task->call_number));
    write_flags(&json, task->flags);
    write_known(&json, "exit_signal", task->asked.exit_signal);
    write_known(&json, "own_stack", task->asked.own_stack);
    json_bool(&json, "alive", task->alive);
    json_int(&json, "execs", task->execs);
    json_int(&json, "failed_execs", task->failed_execs);
    write_did(&json, &task->did);
    json_text(&json, "helper", task->helper[0] != '\0' ? task->helper : NULL);
    json_text(&json, "creator_program", task->creator_program[0] != '\0' ? task->creator_program : NULL);
    json_text(&json, "program", task->program[0] != '\0' ? task->program : NULL);
    json_close(&json, '}');
    (void)send(census, &json);
}

/* What the numbers of a task's line are. */
static const char *const COLUMNS[] = {
    "kind",       "tid",     "creator",   "creator_process", "previous_ns",  "start_ns",    "made_ns",
    "exec_at_ns", "call_ns", "making_ns", "cpu_wait_ns",     "runs_ns",      "exec_ns",     "cost_ns",
    "life_ns",    "site",    "cgroup",    "cpu_ns",          "minor_faults", "major_faults"};

static char *write_number(char *to, int64_t number) {
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

void tell_task(void *context, const struct census_task *task) {
    struct census *census = context;
    bool new = false;
    if (answer_is_full()) {
        census->unread++;
        return;
    }
    tell_cgroups(census);
    unsigned kind = kinds_of(task, &new);
    if (new) {
        tell_kind(census, kind, task);
    }
    const int64_t numbers[] = {kind,
                               task->tid,
                               task->creator,
                               task->creator_process,
                               task->previous_ns,
                               task->start_ns,
                               task->made_ns,
                               task->exec_at_ns,
                               task->call_ns,
                               task->making_ns,
                               task->cpu_wait_ns,
                               task->runs_ns,
                               task->exec_ns,
                               task->cost_ns,
                               task->life_ns,
                               task->site,
                               task->cgroup,
                               task->cpu_ns,
                               task->minor_faults,
                               task->major_faults};
    _Static_assert(sizeof numbers / sizeof numbers[0] == sizeof COLUMNS / sizeof COLUMNS[0], "one each");
    char line[512];
    char *at = line;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *at++ = i == 0 ? '[' : ',';
        if (numbers[i] < 0) {
            memcpy(at, "null", 4);
            at += 4;
        } else {
            at = write_number(at, numbers[i]);
        }
    }
    *at++ = ']';
    *at++ = '\n';
    /* Who reads it has gone: the census ends by SIGPIPE or with the last line. */
    (void)answer_add(census->answer, line, (size_t)(at - line));
}

static void write_frame(struct json *json, struct unwinder *unwinder, uint64_t address, bool returns) {
    struct symbol symbol = symbol_of(unwinder, address, returns);
    json_open(json, NULL, '{');
    if (symbol.module != NULL) {
        json_int(json, "module", symbol.module - unwinder->spaces->modules.module);
        json_int(json, "offset", (int64_t)symbol.offset);
        json_text(json, "function", symbol.function);
        json_int(json, "plus", (int64_t)symbol.plus);
        json_text(json, "file", symbol.file);
        json_int(json, "source_line", symbol.line);
    }
    json_close(json, '}');
}

static void tell_site(const struct census *census, size_t place) {
    /* As many frames as a site may have, with names of the length that those of C++ have at most. */
    static char buffer[SITE_BYTES];
    static const char *const ENDS[] = {
        [UNWIND_COMPLETE] = "complete",
        [UNWIND_BEYOND_COPY] = "beyond copy",
        [UNWIND_NO_TABLE] = "no table",
        [UNWIND_NO_FILE] = "no file",
        [UNWIND_NO_CODE] = "no code",
        [UNWIND_MOST] = "most frames",
        [UNWIND_BY_FRAMES_END] = "frame pointers end",
    };
    const struct site *site = &census->sites->site[place];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "site");
    json_int(&json, "site", (int64_t)place);
    json_text(&json, "ends", ENDS[site->end]);
    json_open(&json, "frames", '[');
    for (uint32_t i = 0; i < site->count && json.length < sizeof buffer / 2; i++) {
        write_frame(&json, &census->sites->unwinder, site->frames[i], i > 0);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    (void)send(census, &json);
}

static void tell_module(const struct census *census, size_t place) {
    char buffer[LINE_BYTES];
    char build_id[2 * MODULE_BUILD_ID + 1] = "";
    const struct module *module = &census->sites->spaces.modules.module[place];
    struct json json;
    for (size_t i = 0; i < module->identity.build_id_bytes; i++) {
        snprintf(build_id + 2 * i, 3, "%02x", module->identity.build_id[i]);
    }
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "module");
    json_int(&json, "module", (int64_t)place);
    json_text(&json, "path", module->process == 0 ? module->path : NULL);
    json_text(&json, "build_id", build_id[0] != '\0' ? build_id : NULL);
    write_known(&json, "code_of", module->process > 0 ? module->process : CENSUS_UNKNOWN);
    json_text(&json, "unreadable", module->error != 0 ? strerror(-module->error) : NULL);
    json_close(&json, '}');
    (void)send(census, &json);
}

/* Those that a site names. */
static void mark_modules(const struct sites *sites, bool *named) {
    for (size_t i = 0; i < sites->count; i++) {
        for (uint32_t j = 0; j < sites->site[i].count; j++) {
            const struct module *module =
                modules_at(&sites->spaces.modules, sites->site[i].frames[j] - (j > 0));
            if (module != NULL) {
                named[module - sites->spaces.modules.module] = true;
            }
        }
    }
}

void tell_sites(const struct census *census) {
    static bool named[MODULES_MOST];
    if (census->sites == NULL) {
        return;
    }
    for (size_t i = 0; i < census->sites->count; i++) {
        tell_site(census, i);
    }
    mark_modules(census->sites, named);
    for (size_t i = 0; i < census->sites->spaces.modules.count; i++) {
        if (named[i]) {
            tell_module(census, i);
        }
    }
}

/* How stacks were unwound, and of how many creations there is no site, for which reason. */
static void write_stacks(const struct census *census, struct json *json, const struct census_totals *totals) {
    static const char *const WHY[SITE_MISSING_KINDS] = {[-SITE_NARROW] = "narrow",
                                                        [-SITE_NO_SPACE] = "unknown_mappings",
                                                        [-SITE_TOO_MANY] = "too_many",
                                                        [-SITE_NO_STACK] = "no_stack"};
    const struct sites *sites = census->sites;
    bool taken = sites != NULL && census->without_stacks[0] == '\0';
    json_open(json, "stacks", '{');
    json_text(json, "by", !taken ? NULL : sites->without[0] == '\0' ? "libdw" : "frame pointers");
    json_text(json, "without", sites == NULL ? NULL : taken ? sites->without : census->without_stacks);
    if (taken) {
        json_int(json, "unwound", (int64_t)sites->unwound);
        json_int(json, "recognised", (int64_t)sites->recognised);
        json_int(json, "copied_bytes", SITES_STACK_BYTES);
        json_int(json, "lost", (int64_t)totals->siteless);
        json_int(json, "unseen_calls", (int64_t)totals->callless);
        for (int i = -SITE_LOST + 1; i < SITE_MISSING_KINDS; i++) {
            json_int(json, WHY[i], (int64_t)sites->missing[i]);
        }
    }
    json_close(json, '}');
}

int tell_begin(const struct census *census) {
    char buffer[LINE_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "begin");
    json_int(&json, "schema", 3);
    json_text(&json, "how", census->how);
    json_text(&json, "without", census->without[0] != '\0' ? census->without : NULL);
    json_int(&json, "pid", census->pid);
    /* On CLOCK_MONOTONIC: what times are counted from. */
    json_int(&json, "begin_ns", (int64_t)census->begin_ns);
    json_open(&json, "columns", '[');
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++) {
        json_text(&json, NULL, COLUMNS[i]);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return send_now(census, &json);
}

int tell_outlived(const struct census *census, uint64_t alive) {
    char buffer[LINE_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "outlived");
    json_int(&json, "alive", (int64_t)alive);
    json_close(&json, '}');
    return send_now(census, &json);
}

int tell_end(const struct census *census, const struct census_totals *totals, const char *reason) {
    char buffer[LINE_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "line", "end");
    json_text(&json, "status", reason[0] == '\0' ? "ok" : "refused");
    json_text(&json, "reason", reason[0] == '\0' ? NULL : reason);
    json_int(&json, "exit_status", census->exit_status);
    json_int(&json, "not_started", census->not_started);
    json_bool(&json, "timed_out", census->timed_out);
    json_bool(&json, "ended_it", census->ending_ns != 0);
    json_bool(&json, "interrupted", census->interrupted);
    json_int(&json, "wall_ns", (int64_t)(census->end_ns - census->begin_ns));
    json_int(&json, "tasks_created", (int64_t)totals->created);
    json_int(&json, "creating_ns", totals->busy_ns);
    write_known(&json, "own_faults", census->own_faults);
    json_int(&json, "lost", (int64_t)(census->lost + census->unread));
    json_int(&json, "grown", census->grown);
    json_int(&json, "ring_bytes", (int64_t)census->ring_bytes);
    json_int(&json, "unseen", (int64_t)totals->unseen);
    json_int(&json, "unplaced", (int64_t)census->unplaced);
    json_bool(&json, "cgroups_full", census->cgroups != NULL && census->cgroups->full);
    write_stacks(census, &json, totals);
    json_text(&json, "unprivileged", census->unprivileged[0] != '\0' ? census->unprivileged : NULL);
    json_text(&json, "without_calls", census->without_calls[0] != '\0' ? census->without_calls : NULL);
    json_text(&json, "without_usage", census->without_usage[0] != '\0' ? census->without_usage : NULL);
    json_open(&json, "failed", '{');
    for (int error = 0; error < CENSUS_MOST_ERRNO; error++) {
        if (totals->failed[error] > 0) {
            char name[16];
            snprintf(name, sizeof name, "%d", error);
            json_int(&json, name, (int64_t)totals->failed[error]);
        }
    }
    json_close(&json, '}');
    json_close(&json, '}');
    return send_now(census, &json);
}
