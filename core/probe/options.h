/* What a driver is asked: `key=value` words (docs/protocol.md). */
#ifndef CLONOMETER_OPTIONS_H
#define CLONOMETER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/keys.h"
#include "base/reason.h"

struct workload;

/* The values of each axis. */
#define V(name, value) name,
#define CHOICE(key, available, summary, values) enum key { values };
#define KEPT_CHOICE CHOICE
#define COUNT(key, fallback, summary)
#define COUNT_FROM_1 COUNT
#define BYTES COUNT
#define BYTES_FROM_1 COUNT
#define TEXT COUNT
#define TEXT_LIKE(key, fallback, form, summary)
#include "probe/axes.def"
#undef CHOICE
#undef KEPT_CHOICE
#undef COUNT
#undef TEXT
#undef TEXT_LIKE

/* All counts are non-negative; sizes in bytes, times in nanoseconds. Texts point into argv. */
struct request {
    const struct workload *workload;
    const char *workload_id;
    const char *temperatures;
    const char *targets;
    bool cold;
    bool warm;
    int64_t samples;
    int64_t blocks;
    int64_t warmup;
    int64_t block_limit_ns;
    int64_t cpu; /* -1: the highest allowed */
    int64_t clock_kind;
    int64_t clock_hz;
#define CHOICE(key, available, summary, values) int64_t key;
#define KEPT_CHOICE(key, available, summary, values) const char *key;
#define COUNT(key, fallback, summary) int64_t key;
#define TEXT(key, fallback, summary) const char *key;
#define TEXT_LIKE(key, fallback, form, summary) const char *key;
#include "probe/axes.def"
#undef V
#undef CHOICE
#undef KEPT_CHOICE
#undef COUNT
#undef COUNT_FROM_1
#undef BYTES
#undef BYTES_FROM_1
#undef TEXT
#undef TEXT_LIKE
};

/* One key, which fills a struct request. Axes are also listed in the catalogue; the others only steer the
 * measuring. */
struct option {
    struct key key; /* the choices are in the order of their enum */
    bool axis;
    int64_t fallback; /* default of a count, size or choice */
    const char *text; /* default of a text */
    const char *summary;
    /* Whether this machine has a value of a choice: 0, or -errno with the reason. NULL: it has all. */
    int (*available)(int64_t choice, struct reason *reason);
    const char *form; /* of a text: the regular expression of all it may be; NULL: any */
};

extern const struct option OPTIONS[];
extern const size_t OPTION_COUNT_ALL;

const struct option *option_find(const char *key, size_t length);

/* Reads the words. 0, or -EINVAL with the reason. */
int options_parse(int count, char **words, struct request *request, struct reason *reason);

/* The frequency axis's value that asks for nothing. Any other is answered before this program starts, by the
 * runner and clonometer-guardian. */
#define OPTIONS_FREQUENCY_AS_IS "as_is"

/* This build's linkage: the axis is answered by starting the right executable. */
const char *options_linkage(void);

#endif
