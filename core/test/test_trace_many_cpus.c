/* A machine with more than a thousand CPUs, made of the ones that are here: each is listened on, or none with
 * a reason; and what a ring has no room for is refused. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sys.h"
#include "census/growth.h"
#include "events/cpus.h"
#include "events/rings.h"
#include "stand_in.h"
#include "tracer/fast.h"
#include "tree.h"

enum {
    ROOMY_BYTES = 2 << 20,
    MADE_CPUS = 1024,
    LAUNCHES = 40,
    STACK_BYTES = 8192,
    PAGE_BYTES = 4096,
    BEYOND = 600
};

/* The highest numbers of the made machine are the CPUs that are here, in turn; all others are offline. */
static struct sys_cpus online;
static int lowest_made;
static int refuses = -1;       /* a CPU that is there, and may not be listened on */
static bool waited;            /* until no program is at work any more */
static const size_t *attached; /* how many there are then; NULL: nobody asks */

static int cpu_of(int made) {
    int left = MADE_CPUS - 1 - made;
    for (int cpu = 0; made >= lowest_made && cpu < SYS_MAX_CPUS; cpu++) {
        if (sys_cpu_in(&online, cpu) && left-- == 0) {
            return cpu;
        }
    }
    return -1;
}

static long stands_in(long number, long *words) {
    long result = 0;
    if (number == SYS_perf_event_open && (int)words[2] >= 0) {
        result = (int)words[2] == refuses ? -EACCES : 0;
        words[2] = cpu_of((int)words[2]);
        result = result == 0 && words[2] < 0 ? -ENODEV : result;
    }
    if (number == SYS_membarrier && attached != NULL) {
        waited = *attached == 0;
    }
    return result;
}

static void check_numbers(void) {
    put("/sys/devices/system/cpu/possible", "0\n");
    CHECK(cpus_possible(root) == 1, "one");
    put("/sys/devices/system/cpu/possible", "0-3,128-131\n");
    CHECK(cpus_possible(root) == 132, "the highest counts, not how many: %ld", cpus_possible(root));
    put("/sys/devices/system/cpu/possible", "0-65535\n");
    CHECK(cpus_possible(root) == CPUS_MOST, "as many as a record can tell");
    put("/sys/devices/system/cpu/possible", "0-65536\n");
    CHECK(cpus_possible(root) == -ERANGE, "one more");
    put("/sys/devices/system/cpu/possible", "many\n");
    CHECK(cpus_possible(root) == sysconf(_SC_NPROCESSORS_CONF), "no list");
    put("/sys/devices/system/cpu/possible", "0-1023\n");
    CHECK(cpus_possible(root) == MADE_CPUS, "a large machine");
}

struct seen {
    pid_t self;
    int made;
    int low;
};

static void take(void *context, const struct trace_event *event, const struct record_rest *rest) {
    struct seen *seen = context;
    (void)rest;
    seen->made += event->kind == EVENT_NEW_TASK && event->process == seen->self;
    seen->low += event->cpu < lowest_made;
}

static void check_all_are_heard(struct rings *rings) {
    struct seen seen = {.self = getpid()};
    rings_start(rings);
    for (int i = 0; i < LAUNCHES; i++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, NULL, 0) == child, "a child");
    }
    rings_stop(rings);
    rings_drain(rings, take, &seen);
    CHECK(seen.made == LAUNCHES && seen.low == 0, "%d of %d, %d elsewhere", seen.made, LAUNCHES, seen.low);
}

/* One that may not be listened on is not left out. */
static void check_refusal(void) {
    struct rings rings = {.root = root};
    struct reason reason = {""};
    refuses = MADE_CPUS / 2 + 1;
    int error = rings_open(&rings, RINGS_TASKS, PAGE_BYTES, CLOCK_MONOTONIC, &reason);
    CHECK(error == -EACCES && strstr(reason.text, "perf_event_open refuses") != NULL, "%d, %s", error,
          reason.text);
    refuses = -1;
    put("/sys/devices/system/cpu/possible", "0-99999\n");
    error = rings_open(&rings, RINGS_TASKS, PAGE_BYTES, CLOCK_MONOTONIC, &reason);
    CHECK(error == -ERANGE && strstr(reason.text, "65536 CPUs") != NULL, "%d, %s", error, reason.text);
    put("/sys/devices/system/cpu/possible", "0-1023\n");
}

/* Page faults are heard of on each CPU by itself; what is read must not change any more. */
static void take_fault(void *context, const struct trace_event *event, const struct record_rest *rest) {
    uint64_t *faults = context;
    (void)rest;
    CHECK(waited, "programs may still be at work");
    *faults += event->kind == EVENT_MINOR_FAULT;
}

static void check_programs(void) {
    enum { PAGES = 64 };
    struct fast fast = {.root = root};
    struct reason reason = {""};
    uint64_t faults = 0;
    int error = fast_open(&fast, RINGS_FAULTS, PAGE_BYTES, 0, NULL, &reason);
    if (error == -EPERM || error == -ENOSYS) {
        fprintf(stderr, "%s\n", reason.text);
        return;
    }
    CHECK(error == 0 && fast.cpus == MADE_CPUS, "%d, %s", error, reason.text);
    volatile unsigned char *pages =
        mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED, "no memory");
    for (size_t i = 0; i < PAGES; i++) {
        pages[i * PAGE_BYTES] = 1;
    }
    attached = &fast.attached_count;
    (void)fast_stop(&fast, take_fault, &faults);
    attached = NULL;
    CHECK(faults >= PAGES, "%llu of %d", (unsigned long long)faults, PAGES);
    fast_close(&fast);
}

/* More kinds of events than a ring keeps. */
static void check_too_many_events(struct rings *rings) {
    static const char *const CALLS[] = {"clone", "fork", "vfork", "execve", NULL};
    struct reason reason = {""};
    int error = 0;
    for (int i = 0; i < RINGS_MOST_EVENTS && error == 0; i++) {
        error = rings_add_calls(rings, CALLS, &reason);
    }
    CHECK(error == -E2BIG && strstr(reason.text, "kinds of events") != NULL, "%d, %s", error, reason.text);
    CHECK(rings->count == 0, "they are closed");
}

/* A ring in which no record with a stack has room is none; one that is as long as a stack may be full. */
static void check_small_rings(void) {
    struct rings rings = {.root = root, .stack_bytes = STACK_BYTES};
    struct reason reason = {""};
    int error = rings_open(&rings, RINGS_SPACES, PAGE_BYTES, CLOCK_MONOTONIC, &reason);
    CHECK(error == -ENOMEM && strstr(reason.text, "RLIMIT_MEMLOCK") != NULL, "%d, %s", error, reason.text);
    static _Alignas(PAGE_BYTES) unsigned char memory[PAGE_BYTES + STACK_BYTES];
    struct perf_event_mmap_page *page = (void *)memory;
    struct ring ring = {.memories = 1, .memory = {{.page = page, .bytes = STACK_BYTES}}};
    struct rings made = {.page_bytes = PAGE_BYTES, .stack_bytes = STACK_BYTES, .count = 1, .ring = &ring};
    const uint32_t header[2] = {0, STACK_BYTES << 16};
    page->data_head = STACK_BYTES;
    memcpy(memory + PAGE_BYTES, header, sizeof header);
    rings_drain(&made, take, NULL);
    CHECK(page->data_tail == STACK_BYTES && rings_lost(&made) == 1, "it had no room left");
}

/* A ring that cannot be made larger is not tried again, whichever of them it is. */
static void check_growth(void) {
    struct ring *ring = calloc(MADE_CPUS, sizeof *ring);
    CHECK(ring != NULL, "no memory");
    struct rings rings = {.page_bytes = PAGE_BYTES, .count = MADE_CPUS, .ring = ring};
    struct growth growth = {.rings = &rings};
    ring[BEYOND] = (struct ring){.memories = 1, .memory = {{.bytes = RINGS_MOST_BYTES}}, .nearly_full = true};
    growth_look(&growth);
    CHECK(growth.running, "it is tried");
    growth_end(&growth);
    growth_look(&growth);
    CHECK(ring[BEYOND].given_up && !growth.running && growth.times == 0, "and not again");
    free(ring);
}

int main(void) {
    struct rings rings = {.root = root};
    struct reason reason = {""};
    tree_begin();
    check_numbers();
    check_growth();
    CHECK(sys_allowed(&online) == 0, "no affinity");
    lowest_made = MADE_CPUS - sys_cpu_count(&online);
    if (rings_open(&rings, RINGS_TASKS, ROOMY_BYTES, CLOCK_MONOTONIC, &reason) != 0) {
        tree_end();
        CHECK(strstr(reason.text, "No such device") == NULL, "%s", reason.text);
        fprintf(stderr, "%s\n", reason.text);
        return TEST_NOT_POSSIBLE;
    }
    CHECK(rings.count == (size_t)sys_cpu_count(&online), "each that is online has a ring");
    check_all_are_heard(&rings);
    check_too_many_events(&rings);
    check_refusal();
    check_small_rings();
    check_programs();
    tree_end();
    return 0;
}
