/* What a driver is asked: `key=value` words (docs/protocol.md). */
#ifndef CLONOMETER_OPTIONS_H
#define CLONOMETER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

struct workload;

enum pages { PAGES_REWRITTEN = 0, PAGES_FIRST, PAGES_CLEAN };
enum placement { PLACEMENT_PINNED = 0, PLACEMENT_FREE };
enum stages { STAGES_ALL = 0, STAGES_PARENT };

/* All counts are non-negative; sizes in bytes, times in nanoseconds. Texts point into argv. */
struct request {
    const struct workload *workload;
    const char *workload_id;
    const char *temperatures;
    const char *linkage;
    const char *program;
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
    int64_t parent_bytes;
    int64_t page_kind;
    int64_t pages;
    int64_t placement;
    int64_t stages;
    int64_t call_spin_ns;
    int64_t stamp_spin_ns;
    int64_t child_spin_ns;
};

/* A sentence for a person about why something was refused. */
struct reason {
    char text[400];
};

/* Writes the sentence and returns `error`, so that refusals read `return reason_set(reason, -EINVAL, ...)`.
 */
__attribute__((format(printf, 3, 4))) int reason_set(struct reason *reason, int error, const char *format,
                                                     ...);

enum option_kind { OPTION_COUNT, OPTION_BYTES, OPTION_CHOICE, OPTION_TEXT };

/* One key. Axes are also listed in the catalogue; the others only steer the measuring. */
struct option {
    const char *key;
    enum option_kind kind;
    bool axis;
    size_t offset;              /* in struct request: int64_t, or const char * for texts */
    int64_t fallback;           /* default of a count, size or choice */
    const char *text;           /* default of a text */
    const char *const *choices; /* of a choice, in the order of its enum, ended by NULL */
    const char *summary;
};

extern const struct option OPTIONS[];
extern const size_t OPTION_COUNT_ALL;

const struct option *option_find(const char *key, size_t length);

/* Reads the words. 0, or -EINVAL with the reason. */
int options_parse(int count, char **words, struct request *request, struct reason *reason);

/* This build's linkage: the axis is answered by starting the right executable. */
const char *options_linkage(void);

#endif
