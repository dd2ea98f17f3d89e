#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#ifndef CLONOMETER_LINKAGE
#error "the build names the linkage"
#endif

#define FIELD(name) offsetof(struct request, name)

static const char *const CLOCKS[] = {"monotonic", "tsc", NULL};
static const char *const PAGE_KINDS[] = {"4k", NULL};
static const char *const PAGES[] = {"rewritten", "first", "clean", NULL};
static const char *const PLACEMENTS[] = {"pinned", "free", NULL};
static const char *const STAGES[] = {"all", "parent", NULL};
static const char *const LINKAGES[] = {"static", "dynamic_lazy", "dynamic_now", "musl", NULL};

const struct option OPTIONS[] = {
    {"workload", OPTION_TEXT, false, FIELD(workload_id), 0, NULL, NULL, ""},
    {"temperatures", OPTION_TEXT, false, FIELD(temperatures), 0, "warm", NULL, ""},
    {"samples", OPTION_COUNT, false, FIELD(samples), 200, NULL, NULL, ""},
    {"blocks", OPTION_COUNT, false, FIELD(blocks), 3, NULL, NULL, ""},
    {"warmup", OPTION_COUNT, false, FIELD(warmup), 20, NULL, NULL, ""},
    {"block_limit_ns", OPTION_COUNT, false, FIELD(block_limit_ns), 0, NULL, NULL, ""},
    {"cpu", OPTION_COUNT, false, FIELD(cpu), -1, NULL, NULL, ""},
    {"clock", OPTION_CHOICE, false, FIELD(clock_kind), CLOCK_KIND_MONOTONIC, NULL, CLOCKS, ""},
    {"clock_hz", OPTION_COUNT, false, FIELD(clock_hz), 0, NULL, NULL, ""},
    {"targets", OPTION_TEXT, false, FIELD(targets), 0, NULL, NULL, ""},
    {"linkage", OPTION_CHOICE, true, FIELD(linkage), 0, NULL, LINKAGES,
     "how the measuring program is linked: static, dynamic with lazy or immediate binding, musl"},
    {"page_kind", OPTION_CHOICE, true, FIELD(page_kind), 0, NULL, PAGE_KINDS,
     "what kind of pages the parent's memory has"},
    {"pages", OPTION_CHOICE, true, FIELD(pages), PAGES_REWRITTEN, NULL, PAGES,
     "state of the parent's memory at each launch: written again before it, written but never forked before, "
     "or "
     "left write-protected by the last fork"},
    {"parent_bytes", OPTION_BYTES, true, FIELD(parent_bytes), 0, NULL, NULL,
     "touched private memory that the parent has beside its own few pages"},
    {"placement", OPTION_CHOICE, true, FIELD(placement), PLACEMENT_PINNED, NULL, PLACEMENTS,
     "parent and child on one CPU, or where the scheduler puts them"},
    {"program", OPTION_TEXT, true, FIELD(program), 0, "target_static", NULL,
     "what an exec starts: one of our targets, or any path"},
    {"stages", OPTION_CHOICE, true, FIELD(stages), STAGES_ALL, NULL, STAGES,
     "all stages, or the parent's stamps only (the new task stamps nothing)"},
    {"call_spin_ns", OPTION_COUNT, true, FIELD(call_spin_ns), 0, NULL, NULL,
     "known answer: the parent spins this long after its call, before its stamp"},
    {"stamp_spin_ns", OPTION_COUNT, true, FIELD(stamp_spin_ns), 0, NULL, NULL,
     "known answer: the new task spins this long before its stamp"},
    {"child_spin_ns", OPTION_COUNT, true, FIELD(child_spin_ns), 0, NULL, NULL,
     "known answer: the new task spins this long before it exits"},
};
const size_t OPTION_COUNT_ALL = sizeof OPTIONS / sizeof OPTIONS[0];

int reason_set(struct reason *reason, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is right above; clang-tidy 14 misses it
     */
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return error;
}

const char *options_linkage(void) {
    return CLONOMETER_LINKAGE;
}

const struct option *option_find(const char *key, size_t length) {
    for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
        if (strlen(OPTIONS[i].key) == length && strncmp(OPTIONS[i].key, key, length) == 0) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

static void store(struct request *request, const struct option *option, int64_t number, const char *text) {
    char *field = (char *)request + option->offset;
    if (option->kind == OPTION_TEXT || option->choices == LINKAGES) {
        memcpy(field, &text, sizeof text);
    } else {
        memcpy(field, &number, sizeof number);
    }
}

static int parse_choice(const struct option *option, const char *value, struct request *request,
                        struct reason *reason) {
    for (int64_t i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            store(request, option, i, option->choices[i]);
            return 0;
        }
    }
    return reason_set(reason, -EINVAL, "%s has no value '%s'", option->key, value);
}

static int parse_number(const struct option *option, const char *value, struct request *request,
                        struct reason *reason) {
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < 0) {
        return reason_set(reason, -EINVAL, "%s=%s: not a whole number from 0 to %lld", option->key, value,
                          LLONG_MAX);
    }
    store(request, option, number, NULL);
    return 0;
}

static int parse_word(const char *word, struct request *request, struct reason *reason) {
    const char *equals = strchr(word, '=');
    if (equals == NULL) {
        return reason_set(reason, -EINVAL, "'%s' is not key=value", word);
    }
    const struct option *option = option_find(word, (size_t)(equals - word));
    if (option == NULL) {
        return reason_set(reason, -EINVAL, "unknown key '%.*s'", (int)(equals - word), word);
    }
    switch (option->kind) {
    case OPTION_TEXT:
        store(request, option, 0, equals + 1);
        return 0;
    case OPTION_CHOICE:
        return parse_choice(option, equals + 1, request, reason);
    default:
        return parse_number(option, equals + 1, request, reason);
    }
}

static int parse_temperatures(struct request *request, struct reason *reason) {
    const char *text = request->temperatures;
    request->cold = strcmp(text, "cold") == 0 || strcmp(text, "cold,warm") == 0;
    request->warm = strcmp(text, "warm") == 0 || strcmp(text, "cold,warm") == 0;
    if (!request->cold && !request->warm) {
        return reason_set(reason, -EINVAL, "temperatures=%s: it is cold, warm or cold,warm", text);
    }
    return 0;
}

static int check_request(struct request *request, struct reason *reason) {
    enum { MOST_SAMPLES = 10000000, MOST_BLOCKS = 10000 };
    if (request->workload_id == NULL) {
        return reason_set(reason, -EINVAL, "no workload= was given");
    }
    request->workload = workload_find(request->workload_id);
    if (request->workload == NULL) {
        return reason_set(reason, -EINVAL, "unknown workload '%s'", request->workload_id);
    }
    if (strcmp(request->linkage, options_linkage()) != 0) {
        return reason_set(reason, -EINVAL, "linkage=%s was asked of the %s probe", request->linkage,
                          options_linkage());
    }
    if (request->blocks > MOST_BLOCKS || request->samples < 1 || request->samples > MOST_SAMPLES ||
        request->samples * request->blocks > MOST_SAMPLES) {
        return reason_set(reason, -EINVAL, "samples=%lld in blocks=%lld: at least 1, at most %d together",
                          (long long)request->samples, (long long)request->blocks, MOST_SAMPLES);
    }
    if (request->clock_kind == CLOCK_KIND_TSC && (request->clock_hz < 1000000 || !CLOCK_HAS_TSC)) {
        return reason_set(reason, -EINVAL, "clock=tsc needs an x86-64 processor and clock_hz= as calibrated");
    }
    return parse_temperatures(request, reason);
}

/* A key that the workload does not have is never ignored. */
static int check_axes(int count, char **words, const struct request *request, struct reason *reason) {
    for (int i = 0; i < count; i++) {
        const struct option *option = option_find(words[i], strcspn(words[i], "="));
        if (option->axis && !workload_has_axis(request->workload, option->key)) {
            return reason_set(reason, -EINVAL, "%s has no axis '%s'", request->workload->id, option->key);
        }
    }
    return 0;
}

int options_parse(int count, char **words, struct request *request, struct reason *reason) {
    memset(request, 0, sizeof *request);
    for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
        const char *text = OPTIONS[i].choices == LINKAGES ? options_linkage() : OPTIONS[i].text;
        store(request, &OPTIONS[i], OPTIONS[i].fallback, text);
    }
    for (int i = 0; i < count; i++) {
        int error = parse_word(words[i], request, reason);
        if (error != 0) {
            return error;
        }
    }
    int error = check_request(request, reason);
    return error != 0 ? error : check_axes(count, words, request, reason);
}
