/* What a driver is asked: `key=value` words (docs/protocol.md). */
#ifndef CLONOMETER_OPTIONS_H
#define CLONOMETER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "reason.h"

struct workload;

enum page_kind {
    PAGE_KIND_4K = 0,
    PAGE_KIND_THP,
    PAGE_KIND_HUGETLB,
    PAGE_KIND_SHARED,
    PAGE_KIND_FILE_PRIVATE,
    PAGE_KIND_FILE_PRIVATE_READ,
    PAGE_KIND_FILE_SHARED,
    PAGE_KIND_FILE_SHARED_READ,
    PAGE_KIND_DONTFORK,
    PAGE_KIND_UNTOUCHED
};
enum pages { PAGES_REWRITTEN = 0, PAGES_FIRST, PAGES_CLEAN };
enum placement { PLACEMENT_PINNED = 0, PLACEMENT_FREE };
enum stack_kind { STACK_LIBRARY = 0, STACK_USER_4K, STACK_USER_HUGE };
enum guard { GUARD_LIBRARY = 0, GUARD_NONE };
enum stack_cache { STACK_CACHE_WARM = 0, STACK_CACHE_COLD };
enum thread_ending { THREAD_RETURNS = 0, THREAD_PTHREAD_EXIT };
enum process_ending { PROCESS_FAST_EXIT = 0, PROCESS_EXIT };
enum close_files { CLOSE_NONE = 0, CLOSE_EACH, CLOSE_RANGE };
enum vma_kind { VMA_UNTOUCHED = 0, VMA_TOUCHED, VMA_DONTFORK };
enum file_kind { FILE_SAME = 0, FILE_DISTINCT };
enum thread_state { THREAD_IDLE = 0, THREAD_BUSY };
enum after { AFTER_NONE = 0, AFTER_FORK, AFTER_VFORK, AFTER_PTHREAD };
enum caches { CACHES_HOT = 0, CACHES_IDLE, CACHES_THRASHED };
enum thrash_cpu { THRASH_CPU_SAME = 0, THRASH_CPU_OTHER };
enum launchers { LAUNCHERS_THREADS = 0, LAUNCHERS_PROCESSES };
enum sched_class {
    SCHED_CLASS_OTHER = 0,
    SCHED_CLASS_BATCH,
    SCHED_CLASS_IDLE,
    SCHED_CLASS_FIFO,
    SCHED_CLASS_RR
};
enum write_step { WRITE_STEP_PAGE = 0, WRITE_STEP_SMALL_PAGE };
enum other_process { OTHER_ALIVE = 0, OTHER_GONE };
enum accounting { ACCOUNTING_MACHINE = 0, ACCOUNTING_CGROUP };
enum clock_path { CLOCK_PATH_VDSO = 0, CLOCK_PATH_SYSCALL };
enum task_kind { TASK_KIND_THREAD = 0, TASK_KIND_PROCESS };
enum partner_cpu { PARTNER_CPU_SAME = 0, PARTNER_CPU_OTHER };
enum stages { STAGES_ALL = 0, STAGES_PARENT };
enum fault {
    FAULT_SEGFAULT = 0,
    FAULT_ABORT,
    FAULT_OVERRUN_GUARD,
    FAULT_OVERRUN_NEIGHBOUR,
    FAULT_LEAK,
    FAULT_KILL
};
enum counter_layout { COUNTER_PADDED = 0, COUNTER_PACKED, COUNTER_ONE };
enum opened { OPENED_DISTINCT = 0, OPENED_SAME };
enum cutoff { CUTOFF_NONE = 0, CUTOFF_SQRT };
enum output { OUTPUT_WORKER_FILE = 0, OUTPUT_SHARED_STREAM, OUTPUT_SHARED_APPEND, OUTPUT_NONE };
enum stdio_lock { STDIO_LOCKED = 0, STDIO_UNLOCKED };
enum writing { WRITING_BUFFERED = 0, WRITING_EACH_NUMBER };
enum allocate { ALLOCATE_NONE = 0, ALLOCATE_EACH_NUMBER };
enum allocator { ALLOCATOR_LIBRARY = 0, ALLOCATOR_ONE_HEAP, ALLOCATOR_MAPPED };
enum worker_memory { WORKER_MEMORY_LIBRARY = 0, WORKER_MEMORY_PREFAULTED };
enum file_table { FILE_TABLE_INHERITED = 0, FILE_TABLE_OWN };
enum counters { COUNTERS_PADDED = 0, COUNTERS_ADJACENT };
enum release { RELEASE_AS_LAUNCHED = 0, RELEASE_TOGETHER };
enum cpus { CPUS_FREE = 0, CPUS_ONE, CPUS_SPREAD };

/* All counts are non-negative; sizes in bytes, times in nanoseconds. Texts point into argv. */
struct request {
    const struct workload *workload;
    const char *workload_id;
    const char *temperatures;
    const char *linkage;
    const char *frequency;
    const char *program;
    const char *targets;
    const char *output_folder;
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
    int64_t detached;
    int64_t stack_bytes;
    int64_t stack_kind;
    int64_t guard;
    int64_t stack_cache;
    int64_t thread_ending;
    int64_t process_ending;
    int64_t close_files;
    int64_t nofile;
    int64_t vmas;
    int64_t vma_kind;
    int64_t open_files;
    int64_t file_kind;
    int64_t parent_threads;
    int64_t thread_state;
    int64_t mlockall;
    int64_t caches;
    int64_t idle_ns;
    int64_t thrash_bytes;
    int64_t thrash_cpu;
    int64_t launch_number;
    int64_t after;
    int64_t concurrency;
    int64_t launchers;
    int64_t sched_class;
    int64_t child_bytes;
    int64_t zombies;
    int64_t copy_bytes;
    int64_t written_bytes;
    int64_t write_step;
    int64_t other_process;
    int64_t tasks;
    int64_t touched_bytes;
    int64_t accounting;
    int64_t path;
    int64_t task_kind;
    int64_t workers;
    int64_t counter_layout;
    int64_t fault;
    int64_t siblings;
    int64_t opened;
    int64_t allocation_bytes;
    int64_t numbers;
    int64_t cutoff;
    int64_t output;
    int64_t stdio_lock;
    int64_t writing;
    int64_t allocate;
    int64_t allocator;
    int64_t worker_memory;
    int64_t file_table;
    int64_t counters;
    int64_t release;
    int64_t cpus;
    int64_t partner_cpu;
    int64_t ring_tasks;
    int64_t working_set_bytes;
    int64_t message_bytes;
    int64_t call_spin_ns;
    int64_t stamp_spin_ns;
    int64_t child_spin_ns;
};

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
    /* Whether this machine has a value of a choice: 0, or -errno with the reason. NULL: it has all. */
    int (*available)(int64_t choice, struct reason *reason);
    int64_t minimum;  /* of a count or size */
    const char *form; /* of a text: the regular expression of all it may be; NULL: any */
};

extern const struct option OPTIONS[];
extern const size_t OPTION_COUNT_ALL;

const struct option *option_find(const char *key, size_t length);

/* Reads the words. 0, or -EINVAL with the reason. */
int options_parse(int count, char **words, struct request *request, struct reason *reason);

/* The frequency axis's value that asks for nothing. Any other is answered before this program starts, by the
 * runner and clonometer-guardian. */
#define OPTIONS_FREQUENCY_AS_IS "as_is"

/* This build's linkage: the axis is answered by starting the right executable. */
const char *options_linkage(void);

#endif
