/* Events of two CPUs come in one order, and of them those of a process and all that it made. */
#include "check.h"
#include "tracer/collect.h"

static void add(struct collection *collection, uint64_t time_ns, enum event_kind kind, int32_t task,
                int32_t process, int64_t value) {
    const struct record_rest nothing = {.text = NULL};
    struct trace_event event = {
        .time_ns = time_ns, .kind = (uint16_t)kind, .task = task, .process = process, .thread = process};
    event.values[0] = value;
    collection_take(collection, &event, &nothing);
}

/* What counters showed goes where the event before it goes. */
static void check_counts(void) {
    struct collection all = {.events = NULL};
    int32_t first = 0;
    add(&all, 10, EVENT_CALL_ENTER, 7, 7, 57);
    add(&all, 10, EVENT_COUNTS, 0, 0, 100);
    add(&all, 20, EVENT_CALL_ENTER, 8, 8, 57);
    add(&all, 20, EVENT_COUNTS, 0, 0, 200);
    add(&all, 30, EVENT_CALL_EXIT, 7, 7, 0);
    add(&all, 30, EVENT_COUNTS, 0, 0, 300);
    CHECK(collection_order(&all) == 0 && collection_keep_family(&all, 7, &first) == 0, "kept");
    CHECK(all.count == 4, "kept %zu", all.count);
    CHECK(all.events[1].values[0] == 100 && all.events[3].values[0] == 300, "the own ones");
    collection_free(&all);
}

int main(void) {
    struct collection all = {.events = NULL};
    int32_t first = 0;
    /* One CPU: the process is 7 here and 1007 for the kernel; it makes 1008, which makes 1009. */
    add(&all, 10, EVENT_CALL_ENTER, 1007, 7, 57);
    add(&all, 20, EVENT_NEW_TASK, 1007, 7, 1008);
    add(&all, 50, EVENT_MINOR_FAULT, 0, 7, 0x1000);
    /* The other one, whose events come later but happened in between. */
    add(&all, 15, EVENT_CALL_ENTER, 2000, 20, 1);
    add(&all, 30, EVENT_NEW_TASK, 1008, 0, 1009);
    add(&all, 40, EVENT_CALL_ENTER, 1009, 0, 60);
    add(&all, 45, EVENT_WAKE, 0, 0, 1007);
    add(&all, 46, EVENT_WAKE, 0, 0, 2000);
    add(&all, 45, EVENT_SWITCH, 2000, 20, 2000);
    all.events[all.count - 1].values[2] = 1009;
    struct record_rest program = {.text = "/bin/true", .text_bytes = 9};
    collection_take(&all, &(struct trace_event){.time_ns = 60, .kind = EVENT_EXEC, .task = 1009}, &program);
    CHECK(collection_order(&all) == 0, "order");
    CHECK(collection_keep_family(&all, 7, &first) == 0 && first == 1007, "first %d", first);
    static const uint64_t TIMES[] = {10, 20, 30, 40, 45, 45, 50, 60};
    CHECK(all.count == 8, "kept %zu", all.count);
    for (size_t i = 0; i < all.count; i++) {
        CHECK(all.events[i].time_ns == TIMES[i], "event %zu at %d", i, (int)all.events[i].time_ns);
    }
    CHECK(all.events[4].kind == EVENT_WAKE && all.events[5].kind == EVENT_SWITCH, "a tie keeps its order");
    CHECK(all.events[6].task == 1007, "a fault's task is the kernel's number: %d", all.events[6].task);
    CHECK(all.events[7].values[0] == 0 && all.events[7].values[1] == 9 &&
              memcmp(all.texts, "/bin/true", 9) == 0,
          "the program's name is kept");
    CHECK(all.dropped == 0, "nothing dropped");
    collection_free(&all);
    check_counts();
    return 0;
}
