/* A ring that is made larger while the kernel writes to it misses nothing; what it had no room for is
 * counted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "events/rings.h"

enum { NOT_HERE = 77, SMALL_BYTES = 16384, FACTOR = 8, MANY = 2000, MOST_LAUNCHES = 20000 };

struct seen {
    pid_t self;
    uint64_t made;
};

static void take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct seen *seen = context;
    (void)rest;
    seen->made += event->kind == EVENT_NEW_TASK && event->process == seen->self;
}

static void launch(void) {
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child, "a child");
}

struct growing {
    struct rings *rings;
    atomic_bool done;
    int result;
};

static void *grow_all(void *context) {
    struct growing *growing = context;
    for (size_t i = 0; i < growing->rings->count && growing->result == 0; i++) {
        growing->result = rings_grow(growing->rings, i, FACTOR);
    }
    atomic_store(&growing->done, true);
    return NULL;
}

static void check_growth(struct rings *rings, struct seen *seen) {
    struct growing growing = {.rings = rings};
    pthread_t thread;
    uint64_t launched = 0;
    size_t bytes = rings_largest(rings);
    rings_start(rings);
    CHECK(pthread_create(&thread, NULL, grow_all, &growing) == 0, "a thread");
    while (!atomic_load(&growing.done) && launched < MOST_LAUNCHES) {
        launch();
        launched++;
        rings_drain(rings, take, seen);
    }
    pthread_join(thread, NULL);
    launch();
    launched++;
    rings_drain(rings, take, seen);
    CHECK(growing.result == 0 && rings_largest(rings) == FACTOR * bytes, "they are larger");
    CHECK(rings_lost(rings) == 0, "nothing was lost");
    /* The thread itself is one that this process has made. */
    CHECK(seen->made == launched || seen->made == launched + 1, "every launch was seen, and none twice");
}

static void check_loss(struct rings *rings, struct seen *seen) {
    uint64_t before = seen->made;
    for (int i = 0; i < MANY; i++) {
        launch();
    }
    rings_stop(rings);
    rings_drain(rings, take, seen);
    bool full = false;
    for (size_t i = 0; i < rings->count; i++) {
        full = full || rings->ring[i].nearly_full;
    }
    CHECK(full, "a ring that nobody has read for long was full");
    CHECK(seen->made - before < MANY, "there was no room for all");
    CHECK(rings_lost(rings) >= MANY - (seen->made - before), "which is known");
}

int main(void) {
    struct rings rings = {.count = 0};
    struct reason reason = {""};
    struct seen seen = {.self = getpid()};
    if (rings_open(&rings, RINGS_TASKS, SMALL_BYTES, CLOCK_MONOTONIC, &reason) != 0) {
        return NOT_HERE;
    }
    check_growth(&rings, &seen);
    check_loss(&rings, &seen);
    rings_close(&rings);
    return 0;
}
