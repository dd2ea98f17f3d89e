/* Every key a driver is asked with. A choice lists its values in the order of its enum in options.h. */
#include "clocks/clocks.h"
#include "launch/thread_stack.h"
#include "options.h"
#include "parent/parent.h"
#include "work/work.h"

#define FIELD(name) offsetof(struct request, name)

static const char *const CLOCKS[] = {"monotonic", "tsc", NULL};
static const char *const PAGE_KINDS[] = {"4k",
                                         "thp",
                                         "hugetlb",
                                         "shared",
                                         "file_private",
                                         "file_private_read",
                                         "file_shared",
                                         "file_shared_read",
                                         "dontfork",
                                         "untouched",
                                         NULL};
static const char *const NO_YES[] = {"no", "yes", NULL};
static const char *const STACK_KINDS[] = {"library", "user_4k", "user_huge", NULL};
static const char *const GUARDS[] = {"library", "none", NULL};
static const char *const STACK_CACHES[] = {"warm", "cold", NULL};
static const char *const THREAD_ENDINGS[] = {"return", "pthread_exit", NULL};
static const char *const PROCESS_ENDINGS[] = {"_exit", "exit", NULL};
static const char *const CLOSE_FILES[] = {"none", "close", "close_range", NULL};
static const char *const VMA_KINDS[] = {"untouched", "touched", "dontfork", NULL};
static const char *const FILE_KINDS[] = {"same", "distinct", NULL};
static const char *const THREAD_STATES[] = {"idle", "busy", NULL};
static const char *const AFTER[] = {"none", "fork", "vfork", "pthread", NULL};
static const char *const CACHES[] = {"hot", "idle", "thrashed", NULL};
static const char *const THRASH_CPUS[] = {"same", "other", NULL};
static const char *const LAUNCHERS[] = {"threads", "processes", NULL};
static const char *const SCHED_CLASSES[] = {"other", "batch", "idle", "fifo", "rr", NULL};
static const char *const WRITE_STEPS[] = {"page", "small_page", NULL};
static const char *const OTHER_PROCESSES[] = {"alive", "gone", NULL};
static const char *const ACCOUNTINGS[] = {"machine", "cgroup", NULL};
static const char *const CLOCK_PATHS[] = {"vdso", "syscall", NULL};
static const char *const TASK_KINDS[] = {"thread", "process", NULL};
static const char *const FAULTS[] = {"segfault", "abort", "overrun_guard", "overrun_neighbour", "leak",
                                     "kill",     NULL};
static const char *const COUNTER_LAYOUTS[] = {"padded", "packed", "one", NULL};
static const char *const OPENED[] = {"distinct", "same", NULL};
static const char *const CUTOFFS[] = {"none", "sqrt", NULL};
static const char *const OUTPUTS[] = {"worker_file", "shared_stream", "shared_append", "none", NULL};
static const char *const STDIO_LOCKS[] = {"locked", "unlocked", NULL};
static const char *const WRITINGS[] = {"buffered", "each_number", NULL};
static const char *const ALLOCATES[] = {"none", "each_number", NULL};
static const char *const ALLOCATORS[] = {"library", "one_heap", "mapped", NULL};
static const char *const WORKER_MEMORIES[] = {"library", "prefaulted", NULL};
static const char *const FILE_TABLES[] = {"inherited", "own", NULL};
static const char *const COUNTERS[] = {"padded", "adjacent", NULL};
static const char *const RELEASES[] = {"as_launched", "together", NULL};
static const char *const CPUS[] = {"free", "one", "spread", NULL};
static const char *const PARTNER_CPUS[] = {"same", "other", NULL};
static const char *const PAGES[] = {"rewritten", "first", "clean", NULL};
static const char *const PLACEMENTS[] = {"pinned", "free", NULL};
static const char *const STAGES[] = {"all", "parent", NULL};
static const char *const LINKAGES[] = {"static", "dynamic_lazy", "dynamic_now", "musl", NULL};

/* Rows of the table: axes by their kind, and the keys that only steer the measuring. */
#define COUNT(key, fallback, summary)                                                                        \
    {#key, OPTION_COUNT, true, FIELD(key), fallback, NULL, NULL, summary, NULL, 0, NULL}
#define COUNT_FROM_1(key, fallback, summary)                                                                 \
    {#key, OPTION_COUNT, true, FIELD(key), fallback, NULL, NULL, summary, NULL, 1, NULL}
#define BYTES(key, fallback, summary)                                                                        \
    {#key, OPTION_BYTES, true, FIELD(key), fallback, NULL, NULL, summary, NULL, 0, NULL}
#define BYTES_FROM_1(key, fallback, summary)                                                                 \
    {#key, OPTION_BYTES, true, FIELD(key), fallback, NULL, NULL, summary, NULL, 1, NULL}
#define TEXT(key, fallback, summary)                                                                         \
    {#key, OPTION_TEXT, true, FIELD(key), 0, fallback, NULL, summary, NULL, 0, NULL}
#define TEXT_LIKE(key, fallback, form, summary)                                                              \
    {#key, OPTION_TEXT, true, FIELD(key), 0, fallback, NULL, summary, NULL, 0, form}
#define CHOICE(key, choices, available, summary)                                                             \
    {#key, OPTION_CHOICE, true, FIELD(key), 0, NULL, choices, summary, available, 0, NULL}
#define STEER(kind, key, field, fallback, text, choices)                                                     \
    {key, OPTION_##kind, false, FIELD(field), fallback, text, choices, "", NULL, 0, NULL}

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
    CHOICE(linkage, LINKAGES, NULL,
           "how the measuring program is linked: static, dynamic with lazy or immediate binding, musl"),
    TEXT_LIKE(frequency, OPTIONS_FREQUENCY_AS_IS, "as_is|base|turbo|[0-9]+([.][0-9]+)?(kHz|MHz|GHz)",
              "frequency of the allowed CPUs while measuring: as_is, base (without turbo), turbo, or a value "
              "such as 2400MHz; set back afterwards"),
    CHOICE(
        page_kind, PAGE_KINDS, parent_page_kind_available,
        "what the parent's memory is: written anonymous pages of 4 KiB, transparent or reserved huge pages, "
        "shared, files (in memory) written or only read, kept from children, or never touched"),
    CHOICE(pages, PAGES, NULL,
           "state of the parent's memory at each launch: written again before it, written but never forked "
           "before, or left write-protected by the last fork"),
    BYTES(parent_bytes, 0, "memory of that kind which the parent has beside its own few pages"),
    CHOICE(placement, PLACEMENTS, NULL, "parent and child on one CPU, or where the scheduler puts them"),
    TEXT(program, "target_static",
         "what an exec starts: one of our targets, or any path with a slash; arguments follow after colons, "
         "as in "
         "/bin/sh:-c:true (a colon inside a word is written \\:)"),
    CHOICE(stages, STAGES, NULL, "all stages, or the parent's stamps only (the new task stamps nothing)"),
    CHOICE(detached, NO_YES, NULL, "whether the thread is detached: nobody joins it"),
    BYTES(stack_bytes, 0, "size of the new task's stack; 0: what the library gives"),
    CHOICE(stack_kind, STACK_KINDS, thread_stack_kind_available,
           "where the thread's stack comes from: the library, or us, in 4 KiB or huge pages"),
    CHOICE(guard, GUARDS, NULL,
           "the guard area below the thread's stack: as the library makes it (one page below a stack of "
           "ours), or none"),
    CHOICE(stack_cache, STACK_CACHES, thread_stack_cache_available,
           "whether the stack of a thread that has gone is used again, or each thread gets an untouched one"),
    CHOICE(thread_ending, THREAD_ENDINGS, NULL,
           "how the thread ends: its function returns, or calls pthread_exit"),
    CHOICE(process_ending, PROCESS_ENDINGS, NULL,
           "how the child ends: _exit, or exit with its handlers and flushes"),
    CHOICE(close_files, CLOSE_FILES, parent_close_files_available,
           "what the child does to inherited descriptors up to the limit: nothing, close each, close_range"),
    COUNT(nofile, 0, "limit of open files (RLIMIT_NOFILE) while measuring; 0: as it is"),
    COUNT(vmas, 0, "memory areas (VMAs) that the parent has beside its own few"),
    CHOICE(vma_kind, VMA_KINDS, NULL,
           "whether those areas were written, and so have page tables and an anon_vma, and whether they are "
           "then kept from children"),
    COUNT(open_files, 0, "files that the parent has open beside its own few"),
    CHOICE(file_kind, FILE_KINDS, NULL,
           "whether those are one open file under many numbers, or distinct open files"),
    COUNT(parent_threads, 0, "further threads in the parent"),
    CHOICE(thread_state, THREAD_STATES, parent_thread_state_available,
           "what those threads do: sleep, or compute on other CPUs"),
    CHOICE(mlockall, NO_YES, NULL, "whether the parent has locked its memory, present and future"),
    CHOICE(
        caches, CACHES, NULL,
        "the processor's caches at each launch: hot from the launch before, or cold since the parent idled "
        "or another task walked memory of its own"),
    COUNT_FROM_1(idle_ns, 100000000, "how long the parent sleeps before each launch where caches=idle"),
    BYTES_FROM_1(thrash_bytes, 128 << 20,
                 "memory that another task walks before each launch where caches=thrashed: several times the "
                 "last-level cache"),
    CHOICE(thrash_cpu, THRASH_CPUS, NULL,
           "where that task is: on the parent's CPU, whose every cache it thrashes, or on another one, with "
           "which it shares the last level at most"),
    COUNT_FROM_1(launch_number, 1, "which launch of the fresh process the cold sample is: 1 is the first"),
    CHOICE(after, AFTER, NULL, "a launch of another kind that the fresh process made before"),
    COUNT_FROM_1(concurrency, 1,
                 "launchers that launch at the same time; pinned ones each with their children on one CPU, "
                 "spread over all"),
    CHOICE(
        launchers, LAUNCHERS, NULL,
        "what the launchers are: threads of one process, or processes that each have the parent's condition"),
    CHOICE(sched_class, SCHED_CLASSES, parent_sched_class_available,
           "scheduling class of parent and child; real-time ones at their lowest priority"),
    BYTES(child_bytes, 0, "memory that the child writes before it ends"),
    COUNT(zombies, 100, "children that have ended and wait to be reaped"),
    BYTES(copy_bytes, 2 << 20, "memory that is copied"),
    BYTES(written_bytes, 2 << 20, "memory that is written after the fork"),
    CHOICE(write_step, WRITE_STEPS, NULL,
           "where a byte is written: in each page of the memory's kind, or in each small page"),
    CHOICE(other_process, OTHER_PROCESSES, NULL,
           "whether the other one of parent and child still lives and shares the pages, or has gone"),
    COUNT_FROM_1(tasks, 100, "tasks that exist at once and idle"),
    BYTES(touched_bytes, 0, "stack that each of them has written before it idles"),
    CHOICE(accounting, ACCOUNTINGS, NULL,
           "whose memory is read: the whole machine's, or that of a control group made for the tasks"),
    CHOICE(path, CLOCK_PATHS, clock_path_available,
           "how the clock is read: through the vDSO, or by a system call"),
    CHOICE(task_kind, TASK_KINDS, NULL, "what the tasks are: threads of one process, or processes"),
    COUNT_FROM_1(workers, 1, "workers that do the same work at the same time"),
    CHOICE(
        counter_layout, COUNTER_LAYOUTS, NULL,
        "where the workers' counters lie: each on cache lines of its own, side by side (false sharing), or "
        "one for all"),
    CHOICE(fault, FAULTS, NULL,
           "how a worker fails: writes to nowhere, calls abort, writes past its buffer into a guard page or "
           "into a "
           "neighbour's data, leaks until its limit, or is killed"),
    COUNT(siblings, 3, "further workers beside the one that fails"),
    CHOICE(opened, OPENED, NULL, "whether each worker opens a file of its own, or all the same"),
    BYTES_FROM_1(allocation_bytes, 64, "size of the blocks that are allocated and freed"),
    COUNT_FROM_1(numbers, 1000, "each worker decomposes every integer from 1 to this one"),
    CHOICE(cutoff, CUTOFFS, NULL,
           "where trial division ends: never before the number is used up, or at the square root"),
    CHOICE(output, OUTPUTS, NULL,
           "where results go: a file for each worker, one stdio stream for all, one file that all append to, "
           "nowhere"),
    CHOICE(stdio_lock, STDIO_LOCKS, NULL, "whether stdio locks its stream for each call"),
    CHOICE(writing, WRITINGS, NULL, "whether results are buffered, or each number is a write() of its own"),
    CHOICE(allocate, ALLOCATES, NULL, "whether a worker allocates and frees memory for each number"),
    CHOICE(
        allocator, ALLOCATORS, work_allocator_available,
        "the library's allocator as it is, one heap for all threads without caches of their own, or the same "
        "with memory mapped and unmapped for each allocation, as for large ones"),
    CHOICE(worker_memory, WORKER_MEMORIES, NULL,
           "stack and buffers of a worker: as the library gives them, or there before it starts"),
    CHOICE(file_table, FILE_TABLES, NULL,
           "a worker's table of open files: as inherited (threads share one), or made its own by unshare"),
    CHOICE(counters, COUNTERS, NULL,
           "the workers' counters: each on cache lines of its own, or side by side (false sharing)"),
    CHOICE(release, RELEASES, NULL,
           "when work begins: as each worker is launched (the whole contains launching and reaping), or "
           "together once all wait (the whole is the work alone)"),
    CHOICE(cpus, CPUS, NULL,
           "where workers run: where the scheduler puts them, all on one CPU, spread over all"),
    TEXT(output_folder, "", "the folder in which results are written, and removed; empty: $TMPDIR, or /tmp"),
    CHOICE(partner_cpu, PARTNER_CPUS, NULL,
           "where the partner of a pinned task is pinned: on the same CPU or another one; in a ring, every "
           "second task"),
    COUNT_FROM_1(ring_tasks, 2, "tasks that wake one another in a ring, one of them running"),
    BYTES_FROM_1(message_bytes, 1, "size of a message"),
    BYTES(working_set_bytes, 0, "memory of its own that each task reads and writes at each of its turns"),
    COUNT(call_spin_ns, 0, "known answer: the parent spins this long after its call, before its stamp"),
    COUNT(stamp_spin_ns, 0, "known answer: the new task spins this long before its stamp"),
    COUNT(child_spin_ns, 0, "known answer: the new task spins this long before it exits"),
};
const size_t OPTION_COUNT_ALL = sizeof OPTIONS / sizeof OPTIONS[0];
