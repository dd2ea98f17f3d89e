/* A census of events that contradict each other: every task is told once at most, and none is followed for
 * ever. */
#include <inttypes.h>

#include "census/family.h"
#include "fuzz/input.h"

enum { MOST_EVENTS = 2048, CALLS = 512 };

static void tell(void *context, const struct census_task *task) {
    uint64_t *tasks_told = context;
    (void)strlen(task->program);
    (void)strlen(task->creator_program);
    (*tasks_told)++;
}

static bool is_there(void *context, pid_t task, uint64_t known_ns) {
    (void)known_ns;
    (void)context;
    return (task & 1) != 0;
}

static void meet(void *context, pid_t process, uint64_t known_ns) {
    (void)known_ns;
    (void)context;
    (void)process;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = {bytes, length};
    struct census_totals totals;
    uint64_t tasks_told = 0;
    uint64_t time_ns = 0;
    struct family *family = family_new(input_number(&input, 2), tell, &tasks_told);
    if (family == NULL || family_adopt(family, 1, "first") != 0) {
        abort();
    }
    for (size_t i = 0; i < MOST_EVENTS && input.left > 0; i++) {
        uint8_t shape = (uint8_t)input_number(&input, 1);
        /* Mostly forwards; a number wide enough goes anywhere. */
        time_ns = (shape & 1) != 0 ? input_number(&input, 8) : time_ns + input_number(&input, 1);
        struct census_event event = {
            .time_ns = time_ns,
            .task = (int32_t)input_number(&input, (shape & 2) != 0 ? 4 : 1),
            .local_tid = (int32_t)input_number(&input, 1),
            .kind = (int32_t)(input_number(&input, 1) % (CENSUS_EXIT + 1)),
            .asked = {.exit_signal = (int32_t)input_number(&input, 1), .own_stack = 1},
            .number = (int64_t)input_number(&input, (shape & 4) != 0 ? 8 : 1),
            .result = (int8_t)input_number(&input, 1),
            .flags = input_number(&input, 4)};
        char *path = event.kind == CENSUS_EXEC ? input_text(&input, 600) : NULL;
        event.path = path;
        if (family_take(family, &event) != 0) {
            abort();
        }
        free(path);
        if ((shape & 64) != 0) {
            family_miss(family, time_ns, is_there, NULL);
        }
    }
    family_living(family, meet, NULL);
    uint64_t alive = family_alive(family);
    family_end(family, time_ns, &totals);
    /* The first was there before; no task is told that was not made or adopted. */
    if (tasks_told > totals.created + 1 || alive > totals.created + 1) {
        abort();
    }
    family_free(family);
    return 0;
}
