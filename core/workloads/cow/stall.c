/* cow.stall
 * Timed: a fork of a parent with parent_bytes of memory, from before the call until it returns in the parent;
 * and what another thread of the parent notices of it, which writes one byte in each 4 KiB of that memory,
 * round and round, on another CPU, and reads the clock after each write: the longest gap between two writes
 * before the fork, during the call, and from its return until the thread has written all of the memory once
 * more; and how long one round takes without a fork and after it. Beside the longest gap the length that one
 * gap in 2, 10, 100, 1000 and 10000 reaches, and how many there were. The child sleeps meanwhile, or has
 * gone. Outside: the parent's own rewriting of its memory, waking the thread, reaping. Bias: each gap
 * contains a clock reading; with less memory than the TLB covers the thread may go on writing through entries
 * that fork has not flushed yet, and so stalls later than it might. On a CPU that shares its core with the
 * forking one, both are slower. Source: fork(2); mm/mmap.c, dup_mmap, which holds mmap_lock for writing and
 * flushes the TLB at its end; mm/memory.c, copy_present_ptes and do_wp_page.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/limits/limits.h"
#include "probe/parent/parts.h"
#include "workloads/cow/cow.h"
#include "workloads/cow/heartbeat.h"

enum {
    HEART_OFFSET = 1024,      /* in the stamp page, behind everything else there */
    STAND_IN_BYTES = 64 << 10 /* what is written where the parent has no memory of parent_bytes */
};
_Static_assert(sizeof(struct cow_page) <= HEART_OFFSET &&
                   HEART_OFFSET + sizeof(struct heartbeat) <= STAMP_PAGE_BYTES,
               "both lie in the stamp page");

/* One gap in so many is as long: what the columns are called after. */
static const uint64_t ONE_IN[] = {2, 10, 100, 1000, 10000};
enum { LADDER = sizeof ONE_IN / sizeof ONE_IN[0] };

/* In ticks. */
struct stall_row {
    struct sample sample;
    uint64_t call;
    uint64_t longest[HEARTBEAT_PHASES]; /* gap */
    uint64_t quiet_pass;
    uint64_t aftermath_pass;
    uint64_t gap_ticks[HEARTBEAT_PHASES][LADDER];
    int64_t gaps[HEARTBEAT_PHASES];
};

struct stall {
    struct bench *bench;
    pthread_t thread;
    uint32_t rounds;
    unsigned char *stand_in;
};

static struct heartbeat *heart_of(const struct bench *bench) {
    return (struct heartbeat *)(void *)((char *)bench->stamps + HEART_OFFSET);
}

static void store(const struct heartbeat *heart, uint64_t call_ticks, struct stall_row *row) {
    row->call = call_ticks;
    row->quiet_pass = heart->pass_ticks[HEARTBEAT_QUIET];
    row->aftermath_pass = heart->pass_ticks[HEARTBEAT_AFTER];
    for (int phase = 0; phase < HEARTBEAT_PHASES; phase++) {
        row->longest[phase] = heart->gaps[phase].longest;
        row->gaps[phase] = (int64_t)heart->gaps[phase].count;
        for (int i = 0; i < LADDER; i++) {
            row->gap_ticks[phase][i] = gaps_one_in(&heart->gaps[phase], ONE_IN[i]);
        }
    }
}

/* Counts that no child inherits: they cost the fork nothing, and it leaves them writable. */
static int map_gaps(struct gaps **gaps) {
    size_t length = HEARTBEAT_PHASES * sizeof **gaps;
    void *memory =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, length, MADV_DONTFORK) != 0) {
        return -errno;
    }
    *gaps = memory;
    return 0;
}

/* The fork among the thread's writes. `gone`: the child leaves at once, and is reaped after the last write.
 */
static int fork_beside(struct heartbeat *heart, uint32_t round, bool gone, uint64_t *call_ticks) {
    int status = 0;
    pid_t probe = getpid();
    heartbeat_set(heart, HEARTBEAT_CALL);
    uint64_t start = clock_read().ticks;
    pid_t pid = fork();
    if (pid == 0) {
        if (gone) {
            _exit(0);
        }
        cow_sleep(probe);
    }
    int error = pid < 0 ? -errno : 0;
    *call_ticks = clock_read().ticks - start;
    /* The aftermath of a fork whose child has gone begins when it has. */
    if (error == 0 && gone) {
        error = sys_wait(pid, &status);
    }
    heartbeat_set(heart, HEARTBEAT_AFTER);
    heartbeat_await(heart, round);
    return error != 0 || gone ? error : cow_kill(pid);
}

static int launch(const struct bench *bench, struct sample *sample) {
    const struct request *request = bench->request;
    struct stall *stall = bench->state;
    struct heartbeat *heart = heart_of(bench);
    bool some = request->parent_bytes > 0;
    uint64_t call_ticks = 0;
    /* Huge pages that were written while a child lived have been split: the next fork gets new ones. */
    int error = some && request->page_kind == PAGE_KIND_THP ? parent_memory_renew(stall->bench) : 0;
    if (error != 0) {
        return error;
    }
    sample->cpu_before = (int32_t)sys_cpu();
    stall->rounds++;
    heartbeat_begin(heart, stall->rounds, some ? bench->parent.memory : stall->stand_in,
                    some ? (size_t)request->parent_bytes : STAND_IN_BYTES, (size_t)parent_small_page_bytes());
    error = fork_beside(heart, stall->rounds, request->other_process == OTHER_GONE, &call_ticks);
    store(heart, call_ticks, (struct stall_row *)(void *)sample);
    return error;
}

static int only_one_cpu(struct reason *reason) {
    return reason_set(reason, -EAGAIN,
                      "there is no CPU besides the forking one: the thread that notices needs its own");
}

static int available(struct reason *reason) {
    struct sys_cpus allowed;
    return sys_allowed(&allowed) == 0 && sys_cpu_count(&allowed) == 1 ? only_one_cpu(reason) : 0;
}

static int other_cpu(const struct bench *bench) {
    struct sys_cpus measured;
    struct sys_cpus others = *bench->affinity;
    if (sys_allowed(&measured) != 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof others.words / sizeof others.words[0]; i++) {
        others.words[i] &= ~measured.words[i];
    }
    return sys_highest_cpu(&others);
}

/* What the parent's condition does not ask for: the copies that the aftermath makes. */
static int check(const struct request *request, struct reason *reason) {
    bool copied = request->page_kind == PAGE_KIND_4K || request->page_kind == PAGE_KIND_THP;
    bool kept = request->page_kind == PAGE_KIND_SHARED || request->page_kind == PAGE_KIND_DONTFORK;
    if (!copied && !kept) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "the aftermath of a fork is measured with page_kind=4k, thp, shared and dontfork only");
    }
    if (!copied || request->other_process == OTHER_GONE || request->parent_bytes > INT64_MAX / 4) {
        return 0;
    }
    struct limits_need need = {
        .memory_bytes = 2 * request->parent_bytes, .commit_bytes = request->parent_bytes, .tasks = 3};
    return limits_check("", &need, reason);
}

/* In a virtual machine memory that the host has yet to give costs tens of microseconds a page: the copies
 * must not be the first to touch theirs. What is touched here comes back when the parent and its copies are
 * made. */
static int touch_for_copies(const struct request *request) {
    bool copied = request->page_kind == PAGE_KIND_4K || request->page_kind == PAGE_KIND_THP;
    size_t length = 2 * (size_t)request->parent_bytes;
    unsigned char *memory = NULL;
    if (!copied || length == 0 || request->other_process == OTHER_GONE) {
        return 0;
    }
    int error = parent_map(PAGE_KIND_4K, length, -1, &memory);
    for (size_t at = 0; error == 0 && at < length; at += (size_t)parent_small_page_bytes()) {
        ((volatile unsigned char *)memory)[at] = 1;
    }
    if (memory != NULL) {
        munmap(memory, length);
    }
    return error;
}

static int prepare(struct bench *bench, struct reason *reason) {
    static struct stall stall;
    struct gaps *gaps = NULL;
    int error = check(bench->request, reason);
    if (error != 0) {
        return error;
    }
    int cpu = other_cpu(bench);
    if (cpu < 0) {
        return only_one_cpu(reason);
    }
    error = touch_for_copies(bench->request);
    error = error != 0 ? error : parent_map(PAGE_KIND_4K, STAND_IN_BYTES, -1, &stall.stand_in);
    error = error != 0 ? error : map_gaps(&gaps);
    error = error != 0 ? error : heartbeat_start(heart_of(bench), gaps, cpu, &stall.thread);
    if (error != 0) {
        return reason_set(reason, error, "the writing thread, or its memory, cannot be created: %s",
                          strerror(-error));
    }
    stall.bench = bench;
    bench->state = &stall;
    return 0;
}

static void finish(struct bench *bench) {
    struct stall *stall = bench->state;
    heartbeat_stop(heart_of(bench), stall->rounds, stall->thread);
}

#define IN_ROW(field) offsetof(struct stall_row, field)
#define GAP_AT(phase, step)                                                                                  \
    (offsetof(struct stall_row, gap_ticks) + sizeof(uint64_t) * ((size_t)(phase) * LADDER + (step)))
#define GAP_COLUMNS(name, phase, when)                                                                       \
    {name "_gap_p50_ns", COLUMN_DURATION, GAP_AT(phase, 0), NULL, "half of the gaps " when " are longer"},   \
        {name "_gap_p90_ns", COLUMN_DURATION, GAP_AT(phase, 1), NULL, "one gap in 10 " when " is longer"},   \
        {name "_gap_p99_ns", COLUMN_DURATION, GAP_AT(phase, 2), NULL, "one gap in 100 " when " is longer"},  \
        {name "_gap_p999_ns", COLUMN_DURATION, GAP_AT(phase, 3), NULL,                                       \
         "one gap in 1000 " when " is longer"},                                                              \
        {name "_gap_p9999_ns", COLUMN_DURATION, GAP_AT(phase, 4), NULL,                                      \
         "one gap in 10000 " when " is longer; none where there are fewer"},                                 \
    {                                                                                                        \
        name "_gaps", COLUMN_COUNT, offsetof(struct stall_row, gaps) + sizeof(int64_t) * (size_t)(phase),    \
            NULL, "gaps " when                                                                               \
    }

static const struct column COLUMNS[] = {
    {"fork_call_ns", COLUMN_DURATION, IN_ROW(call), NULL,
     "until fork returns in the parent, while another thread writes to its memory"},
    {"quiet_stall_ns", COLUMN_DURATION, IN_ROW(longest[HEARTBEAT_QUIET]), NULL,
     "longest gap between another thread's writes before the fork"},
    {"call_stall_ns", COLUMN_DURATION, IN_ROW(longest[HEARTBEAT_CALL]), NULL,
     "longest gap between another thread's writes during the call"},
    {"aftermath_stall_ns", COLUMN_DURATION, IN_ROW(longest[HEARTBEAT_AFTER]), NULL,
     "longest gap between another thread's writes after the call, until all memory is written once"},
    {"quiet_pass_ns", COLUMN_DURATION, IN_ROW(quiet_pass), NULL,
     "writing to each 4 KiB of the memory once, before the fork"},
    {"aftermath_pass_ns", COLUMN_DURATION, IN_ROW(aftermath_pass), NULL,
     "writing to each 4 KiB of the memory once, after the fork"},
    GAP_COLUMNS("quiet", HEARTBEAT_QUIET, "before the fork"),
    GAP_COLUMNS("call", HEARTBEAT_CALL, "during the call"),
    GAP_COLUMNS("aftermath", HEARTBEAT_AFTER, "after the call"),
    {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
#define GAP_NAMES(name)                                                                                      \
    name "_gap_p50_ns", name "_gap_p90_ns", name "_gap_p99_ns", name "_gap_p999_ns", name "_gap_p9999_ns",   \
        name "_gaps"
static const char *const DETAILS[] = {GAP_NAMES("quiet"), GAP_NAMES("call"), GAP_NAMES("aftermath"), NULL};
#define GAP_STEPS(name, stall)                                                                               \
    {                                                                                                        \
        {name "_gap_p50_ns", 2},     {name "_gap_p90_ns", 10},      {name "_gap_p99_ns", 100},               \
        {name "_gap_p999_ns", 1000}, {name "_gap_p9999_ns", 10000}, {stall, 0},                              \
    }
static const struct distribution DISTRIBUTIONS[] = {
    {"before the fork", "quiet_gaps", GAP_STEPS("quiet", "quiet_stall_ns")},
    {"during the call", "call_gaps", GAP_STEPS("call", "call_stall_ns")},
    {"after the call", "aftermath_gaps", GAP_STEPS("aftermath", "aftermath_stall_ns")},
    {NULL, NULL, {{NULL, 0}}},
};
static const char *const AXES[] = {"linkage", "page_kind", "parent_bytes", "other_process", NULL};

const struct workload cow_stall = {
    .id = "cow.stall",
    .family = "cow",
    .summary = "what a thread writing to the parent's memory notices of a fork, during and after the call",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .answers.details = DETAILS,
    .answers.phases = true,
    .answers.distributions_of = "gaps between another thread's writes",
    .answers.distributions = DISTRIBUTIONS,
    ROWS_OF(stall_row),
    .needs.available = available,
    .prepare = prepare,
    .launch = launch,
    .finish = finish,
};
