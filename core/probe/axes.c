/* Every key a driver is asked with: what steers the measuring, and the axes. */
#include "probe/options.h"
#include "probe/parent/parent.h"
#include "workloads/clocks/clocks.h"
#include "workloads/launch/thread_stack.h"
#include "workloads/work/work.h"

#define FIELD(name) offsetof(struct request, name)

static const char *const CLOCKS[] = {"monotonic", "tsc", NULL};

#define V(name, value) value,
#define NUMBER(what, unit, from, usual, words)                                                               \
    {.key = {.name = #what, .kind = (unit), .offset = FIELD(what), .least = (from), .most = INT64_MAX},      \
     .axis = true,                                                                                           \
     .fallback = (usual),                                                                                    \
     .summary = (words)},
#define COUNT(what, usual, words) NUMBER(what, KEY_COUNT, 0, usual, words)
#define COUNT_FROM_1(what, usual, words) NUMBER(what, KEY_COUNT, 1, usual, words)
#define BYTES(what, usual, words) NUMBER(what, KEY_BYTES, 0, usual, words)
#define BYTES_FROM_1(what, usual, words) NUMBER(what, KEY_BYTES, 1, usual, words)
#define TEXT_LIKE(what, usual, expression, words)                                                            \
    {.key = {.name = #what, .kind = KEY_TEXT, .keep_text = true, .offset = FIELD(what)},                     \
     .axis = true,                                                                                           \
     .text = (usual),                                                                                        \
     .form = (expression),                                                                                   \
     .summary = (words)},
#define TEXT(what, usual, words) TEXT_LIKE(what, usual, NULL, words)
#define CHOICE_OF(what, kept, can, words, ...)                                                               \
    {.key = {.name = #what,                                                                                  \
             .kind = KEY_CHOICE,                                                                             \
             .keep_text = (kept),                                                                            \
             .offset = FIELD(what),                                                                          \
             .choices = (const char *const[]){__VA_ARGS__ NULL}},                                            \
     .axis = true,                                                                                           \
     .available = (can),                                                                                     \
     .summary = (words)},
#define CHOICE(what, can, words, values) CHOICE_OF(what, false, can, words, values)
#define KEPT_CHOICE(what, can, words, values) CHOICE_OF(what, true, can, words, values)
#define STEER(unit, word, field, usual, value, values)                                                       \
    {.key = {.name = (word),                                                                                 \
             .kind = KEY_##unit,                                                                             \
             .keep_text = KEY_##unit == KEY_TEXT,                                                            \
             .offset = FIELD(field),                                                                         \
             .most = INT64_MAX,                                                                              \
             .choices = (values)},                                                                           \
     .fallback = (usual),                                                                                    \
     .text = (value),                                                                                        \
     .summary = ""}

const struct option OPTIONS[] = {
    STEER(TEXT, "workload", workload_id, 0, NULL, NULL),
    STEER(TEXT, "temperatures", temperatures, 0, "warm", NULL),
    STEER(COUNT, "samples", samples, 200, NULL, NULL),
    STEER(COUNT, "blocks", blocks, 3, NULL, NULL),
    STEER(COUNT, "warmup", warmup, 20, NULL, NULL),
    STEER(COUNT, "block_limit_ns", block_limit_ns, 0, NULL, NULL),
    STEER(COUNT, "cpu", cpu, -1, NULL, NULL),
    STEER(CHOICE, "clock", clock_kind, CLOCK_KIND_MONOTONIC, NULL, CLOCKS),
    STEER(COUNT, "clock_hz", clock_hz, 0, NULL, NULL),
    STEER(TEXT, "targets", targets, 0, NULL, NULL),
#include "probe/axes.def"
};
const size_t OPTION_COUNT_ALL = sizeof OPTIONS / sizeof OPTIONS[0];
