/* Every key a driver is asked with. A choice lists its values in the order of its enum in options.h. */
#include "options.h"

#define FIELD(name) offsetof(struct request, name)

static const char *const CLOCKS[] = {"monotonic", "tsc", NULL};
static const char *const PAGE_KINDS[] = {"4k", NULL};
static const char *const NO_YES[] = {"no", "yes", NULL};
static const char *const STACK_KINDS[] = {"library", "user_4k", "user_huge", NULL};
static const char *const GUARDS[] = {"library", "none", NULL};
static const char *const STACK_CACHES[] = {"warm", "cold", NULL};
static const char *const THREAD_ENDINGS[] = {"return", "pthread_exit", NULL};
static const char *const PROCESS_ENDINGS[] = {"_exit", "exit", NULL};
static const char *const CLOSE_FILES[] = {"none", "close", "close_range", NULL};
static const char *const VMA_KINDS[] = {"untouched", "touched", NULL};
static const char *const FILE_KINDS[] = {"same", "distinct", NULL};
static const char *const THREAD_STATES[] = {"idle", "busy", NULL};
static const char *const AFTER[] = {"none", "fork", "vfork", "pthread", NULL};
static const char *const LAUNCHERS[] = {"threads", "processes", NULL};
static const char *const SCHED_CLASSES[] = {"other", "batch", "idle", "fifo", "rr", NULL};
static const char *const CLOCK_PATHS[] = {"vdso", "syscall", NULL};
static const char *const PAGES[] = {"rewritten", "first", "clean", NULL};
static const char *const PLACEMENTS[] = {"pinned", "free", NULL};
static const char *const STAGES[] = {"all", "parent", NULL};
static const char *const LINKAGES[] = {"static", "dynamic_lazy", "dynamic_now", "musl", NULL};

const struct option OPTIONS[] = {
    {"workload", OPTION_TEXT, false, FIELD(workload_id), 0, NULL, NULL, ""},
    {"temperatures", OPTION_TEXT, false, FIELD(temperatures), 0, "warm", NULL, ""},
    {"samples", OPTION_COUNT, false, FIELD(samples), 200, NULL, NULL, ""},
    {"blocks", OPTION_COUNT, false, FIELD(blocks), 3, NULL, NULL, ""},
    {"warmup", OPTION_COUNT, false, FIELD(warmup), 20, NULL, NULL, ""},
    {"block_limit_ns", OPTION_COUNT, false, FIELD(block_limit_ns), 0, NULL, NULL, ""},
    {"cpu", OPTION_COUNT, false, FIELD(cpu), -1, NULL, NULL, ""},
    {"clock", OPTION_CHOICE, false, FIELD(clock_kind), CLOCK_KIND_MONOTONIC, NULL, CLOCKS, ""},
    {"clock_hz", OPTION_COUNT, false, FIELD(clock_hz), 0, NULL, NULL, ""},
    {"targets", OPTION_TEXT, false, FIELD(targets), 0, NULL, NULL, ""},
    {"linkage", OPTION_CHOICE, true, FIELD(linkage), 0, NULL, LINKAGES,
     "how the measuring program is linked: static, dynamic with lazy or immediate binding, musl"},
    {"page_kind", OPTION_CHOICE, true, FIELD(page_kind), 0, NULL, PAGE_KINDS,
     "what kind of pages the parent's memory has"},
    {"pages", OPTION_CHOICE, true, FIELD(pages), PAGES_REWRITTEN, NULL, PAGES,
     "state of the parent's memory at each launch: written again before it, written but never forked before, "
     "or "
     "left write-protected by the last fork"},
    {"parent_bytes", OPTION_BYTES, true, FIELD(parent_bytes), 0, NULL, NULL,
     "touched private memory that the parent has beside its own few pages"},
    {"placement", OPTION_CHOICE, true, FIELD(placement), PLACEMENT_PINNED, NULL, PLACEMENTS,
     "parent and child on one CPU, or where the scheduler puts them"},
    {"program", OPTION_TEXT, true, FIELD(program), 0, "target_static", NULL,
     "what an exec starts: one of our targets, or any path"},
    {"stages", OPTION_CHOICE, true, FIELD(stages), STAGES_ALL, NULL, STAGES,
     "all stages, or the parent's stamps only (the new task stamps nothing)"},
    {"detached", OPTION_CHOICE, true, FIELD(detached), 0, NULL, NO_YES,
     "whether the thread is detached: nobody joins it"},
    {"stack_bytes", OPTION_BYTES, true, FIELD(stack_bytes), 0, NULL, NULL,
     "size of the new task's stack; 0: what the library gives"},
    {"stack_kind", OPTION_CHOICE, true, FIELD(stack_kind), 0, NULL, STACK_KINDS,
     "where the thread's stack comes from: the library, or us, in 4 KiB or huge pages"},
    {"guard", OPTION_CHOICE, true, FIELD(guard), 0, NULL, GUARDS,
     "the guard area below the thread's stack: as the library makes it, or none"},
    {"stack_cache", OPTION_CHOICE, true, FIELD(stack_cache), 0, NULL, STACK_CACHES,
     "whether the library may reuse the stack of a thread that has gone"},
    {"thread_ending", OPTION_CHOICE, true, FIELD(thread_ending), 0, NULL, THREAD_ENDINGS,
     "how the thread ends: its function returns, or calls pthread_exit"},
    {"process_ending", OPTION_CHOICE, true, FIELD(process_ending), 0, NULL, PROCESS_ENDINGS,
     "how the child ends: _exit, or exit with its handlers and flushes"},
    {"close_files", OPTION_CHOICE, true, FIELD(close_files), 0, NULL, CLOSE_FILES,
     "what the child does to inherited descriptors up to the limit: nothing, close each, close_range"},
    {"nofile", OPTION_COUNT, true, FIELD(nofile), 0, NULL, NULL,
     "limit of open files (RLIMIT_NOFILE) while measuring; 0: as it is"},
    {"vmas", OPTION_COUNT, true, FIELD(vmas), 0, NULL, NULL,
     "memory areas (VMAs) that the parent has beside its own few"},
    {"vma_kind", OPTION_CHOICE, true, FIELD(vma_kind), 0, NULL, VMA_KINDS,
     "whether those areas were written, and so have page tables and an anon_vma"},
    {"open_files", OPTION_COUNT, true, FIELD(open_files), 0, NULL, NULL,
     "files that the parent has open beside its own few"},
    {"file_kind", OPTION_CHOICE, true, FIELD(file_kind), 0, NULL, FILE_KINDS,
     "whether those are one open file under many numbers, or distinct open files"},
    {"parent_threads", OPTION_COUNT, true, FIELD(parent_threads), 0, NULL, NULL,
     "further threads in the parent"},
    {"thread_state", OPTION_CHOICE, true, FIELD(thread_state), 0, NULL, THREAD_STATES,
     "what those threads do: sleep, or compute on other CPUs"},
    {"mlockall", OPTION_CHOICE, true, FIELD(mlockall), 0, NULL, NO_YES,
     "whether the parent has locked its memory, present and future"},
    {"launch_number", OPTION_COUNT, true, FIELD(launch_number), 1, NULL, NULL,
     "which launch of the fresh process the cold sample is: 1 is the first"},
    {"after", OPTION_CHOICE, true, FIELD(after), 0, NULL, AFTER,
     "a launch of another kind that the fresh process made before"},
    {"concurrency", OPTION_COUNT, true, FIELD(concurrency), 1, NULL, NULL,
     "launchers that launch at the same time"},
    {"launchers", OPTION_CHOICE, true, FIELD(launchers), 0, NULL, LAUNCHERS,
     "what the launchers are: threads of one process, or processes"},
    {"sched_class", OPTION_CHOICE, true, FIELD(sched_class), 0, NULL, SCHED_CLASSES,
     "scheduling class of parent and child"},
    {"child_bytes", OPTION_BYTES, true, FIELD(child_bytes), 0, NULL, NULL,
     "memory that the child writes before it ends"},
    {"zombies", OPTION_COUNT, true, FIELD(zombies), 100, NULL, NULL,
     "children that have ended and wait to be reaped"},
    {"copy_bytes", OPTION_BYTES, true, FIELD(copy_bytes), 2 << 20, NULL, NULL, "memory that is copied"},
    {"path", OPTION_CHOICE, true, FIELD(path), 0, NULL, CLOCK_PATHS,
     "how the clock is read: through the vDSO, or by a system call"},
    {"call_spin_ns", OPTION_COUNT, true, FIELD(call_spin_ns), 0, NULL, NULL,
     "known answer: the parent spins this long after its call, before its stamp"},
    {"stamp_spin_ns", OPTION_COUNT, true, FIELD(stamp_spin_ns), 0, NULL, NULL,
     "known answer: the new task spins this long before its stamp"},
    {"child_spin_ns", OPTION_COUNT, true, FIELD(child_spin_ns), 0, NULL, NULL,
     "known answer: the new task spins this long before it exits"},
};
const size_t OPTION_COUNT_ALL = sizeof OPTIONS / sizeof OPTIONS[0];
