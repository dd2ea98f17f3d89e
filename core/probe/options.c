#include "probe/options.h"

#include <errno.h>
#include <string.h>

#include "probe/workload.h"

enum { MOST_SAMPLES = 10000000, MOST_BLOCKS = 10000, MOST_LAUNCHERS = 4096, MOST_EARLIER_LAUNCHES = 100000 };

#ifndef CLONOMETER_LINKAGE
#error "the build names the linkage"
#endif

const char *options_linkage(void) {
    return CLONOMETER_LINKAGE;
}

const struct option *option_find(const char *key, size_t length) {
    for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
        if (strlen(OPTIONS[i].key.name) == length && strncmp(OPTIONS[i].key.name, key, length) == 0) {
            return &OPTIONS[i];
        }
    }
    return NULL;
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
    return key_read(&option->key, equals + 1, request, reason);
}

static int parse_temperatures(struct request *request, struct reason *reason) {
    const char *text = request->temperatures;
    request->cold = strcmp(text, "cold") == 0 || strcmp(text, "cold,warm") == 0;
    request->warm = strcmp(text, "warm") == 0 || strcmp(text, "cold,warm") == 0;
    if (!request->cold && !request->warm) {
        return reason_set(reason, -EINVAL, "temperatures=%s: must be cold, warm or cold,warm", text);
    }
    if (request->launch_number > MOST_EARLIER_LAUNCHES) {
        return reason_set(reason, -EOPNOTSUPP, "launch_number=%lld: at most %d",
                          (long long)request->launch_number, MOST_EARLIER_LAUNCHES);
    }
    if ((request->launch_number > 1 || request->after != AFTER_NONE) && !request->cold) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "launch_number and after apply to the cold sample, which temperatures=%s does not have", text);
    }
    return 0;
}

static int check_request(struct request *request, struct reason *reason) {
    if (request->workload_id == NULL) {
        return reason_set(reason, -EINVAL, "no workload= was given");
    }
    request->workload = workload_find(request->workload_id);
    if (request->workload == NULL) {
        return reason_set(reason, -EINVAL, "unknown workload '%s'", request->workload_id);
    }
    if (strcmp(request->linkage, options_linkage()) != 0) {
        return reason_set(reason, -EINVAL, "linkage=%s was requested of the %s probe", request->linkage,
                          options_linkage());
    }
    if (strcmp(request->frequency, OPTIONS_FREQUENCY_AS_IS) != 0) {
        return reason_set(
            reason, -EINVAL,
            "frequency=%s was requested of the probe: clonometer-guardian sets it before a driver starts",
            request->frequency);
    }
    if (request->concurrency < 1 || request->concurrency > MOST_LAUNCHERS) {
        return reason_set(reason, -EOPNOTSUPP, "concurrency=%lld: from 1 to %d",
                          (long long)request->concurrency, MOST_LAUNCHERS);
    }
    if (request->blocks > MOST_BLOCKS || request->samples < 1 || request->samples > MOST_SAMPLES ||
        request->samples * request->blocks * request->concurrency > MOST_SAMPLES) {
        return reason_set(reason, request->samples < 1 ? -EINVAL : -EOPNOTSUPP,
                          "samples=%lld in blocks=%lld by %lld launchers: at least 1, at most %d together",
                          (long long)request->samples, (long long)request->blocks,
                          (long long)request->concurrency, MOST_SAMPLES);
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
        if (option->axis && !workload_has_axis(request->workload, option->key.name)) {
            return reason_set(reason, -EINVAL, "%s has no axis '%s'", request->workload->id,
                              option->key.name);
        }
    }
    return 0;
}

int options_parse(int count, char **words, struct request *request, struct reason *reason) {
    memset(request, 0, sizeof *request);
    for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
        key_store(&OPTIONS[i].key, OPTIONS[i].fallback, OPTIONS[i].text, request);
    }
    request->linkage = options_linkage();
    for (int i = 0; i < count; i++) {
        int error = parse_word(words[i], request, reason);
        if (error != 0) {
            return error;
        }
    }
    int error = check_request(request, reason);
    return error != 0 ? error : check_axes(count, words, request, reason);
}
