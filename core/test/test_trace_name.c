/* Pointers to tasks become their numbers: whoever is named by one leaves a CPU later, and says who it was. */
#include "check.h"
#include "tracer/collect.h"

enum { PARENT = 0x1000, CHILD = 0x2000, IDLE = 0x3000, NOBODY = 0x4000 };

static void add(struct collection *all, uint64_t time_ns, uint16_t cpu, enum event_kind kind, int32_t task,
                const int64_t values[4]) {
    const struct record_rest nothing = {.text = NULL};
    struct trace_event event = {.time_ns = time_ns, .kind = (uint16_t)kind, .task = task, .cpu = cpu};
    memcpy(event.values, values, 4 * sizeof *values);
    event.values[EVENT_BY_POINTER] = 1;
    collection_take(all, &event, &nothing);
}

#define VALUES(...) ((const int64_t[4]){__VA_ARGS__})

/* Two children, one after the other, in the same memory. */
static void check_a_place_that_is_used_again(void) {
    struct collection all = {.events = NULL};
    add(&all, 10, 0, EVENT_NEW_TASK, 7, VALUES(CHILD, 0x11));
    add(&all, 11, 0, EVENT_WAKE_NEW, 7, VALUES(CHILD));
    add(&all, 12, 1, EVENT_SWITCH, 0, VALUES(IDLE, 0, CHILD, 0));
    add(&all, 13, 0, EVENT_SWITCH, 7, VALUES(PARENT, 1, IDLE, 0));
    add(&all, 14, 1, EVENT_WAKE, 8, VALUES(PARENT));
    add(&all, 15, 0, EVENT_SWITCH, 0, VALUES(IDLE, 0, PARENT, 0));
    add(&all, 16, 1, EVENT_SWITCH, 8, VALUES(CHILD, 0x80, IDLE, 0));
    add(&all, 20, 0, EVENT_NEW_TASK, 7, VALUES(CHILD, 0x12));
    add(&all, 21, 0, EVENT_SWITCH, 7, VALUES(PARENT, 0, CHILD, 1));
    add(&all, 22, 0, EVENT_SWITCH, 9, VALUES(CHILD, 0x402, PARENT, 0));
    add(&all, 23, 0, EVENT_WAKE, 7, VALUES(NOBODY));
    CHECK(collection_name_tasks(&all) == 0, "named");
    static const int64_t EXPECTED[][3] = {{8, 0x11, 0},  {8, 1, 0},  {0, 0, 8},     {7, 1, 0},
                                          {7, 0, 0},     {0, 0, 7},  {8, 0x20, -1}, {9, 0x12, 0},
                                          {7, 0x100, 9}, {9, 2, -1}, {-1, -1, 0}};
    for (size_t i = 0; i < all.count; i++) {
        const int64_t *values = all.events[i].values;
        CHECK(values[0] == EXPECTED[i][0] && values[1] == EXPECTED[i][1] && values[2] == EXPECTED[i][2],
              "event %zu: %d %d %d", i, (int)values[0], (int)values[1], (int)values[2]);
        CHECK(values[3] == 0 && values[EVENT_BY_POINTER] == 0, "event %zu is as any other", i);
    }
    collection_free(&all);
}

/* What records tell is left alone. */
static void check_records(void) {
    struct collection all = {.events = NULL};
    add(&all, 10, 0, EVENT_WAKE, 7, VALUES(8, 1));
    all.events[0].values[EVENT_BY_POINTER] = 0;
    CHECK(collection_name_tasks(&all) == 0 && all.events[0].values[0] == 8 && all.events[0].values[1] == 1,
          "a record");
    collection_free(&all);
}

/* Whoever is at work is who leaves that CPU next. */
static void check_who_is_at_work(void) {
    struct collection all = {.events = NULL};
    add(&all, 10, 0, EVENT_CALL_ENTER, EVENT_TASK_UNKNOWN, VALUES(57));
    add(&all, 11, 1, EVENT_CALL_ENTER, EVENT_TASK_UNKNOWN, VALUES(57));
    add(&all, 12, 0, EVENT_SWITCH, 7, VALUES(PARENT, 1, CHILD, 0));
    add(&all, 13, 0, EVENT_CALL_EXIT, EVENT_TASK_UNKNOWN, VALUES(-1, 0));
    add(&all, 14, 0, EVENT_SWITCH, 8, VALUES(CHILD, 0x80, PARENT, 0));
    add(&all, 15, 0, EVENT_CALL_EXIT, EVENT_TASK_UNKNOWN, VALUES(-1, 8));
    CHECK(collection_name_tasks(&all) == 0, "named");
    static const int32_t TASKS[] = {7, -1, 7, 8, 8, -1};
    for (size_t i = 0; i < all.count; i++) {
        CHECK(all.events[i].task == TASKS[i], "event %zu is of %d", i, all.events[i].task);
    }
    CHECK(all.events[3].values[0] == -1 && all.events[5].values[1] == 8, "values are left alone");
    collection_free(&all);
}

int main(void) {
    check_who_is_at_work();
    check_a_place_that_is_used_again();
    check_records();
    return 0;
}
