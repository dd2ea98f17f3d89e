#include "probe/measure.h"

#include <alloca.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/crew/crew.h"
#include "probe/rows.h"
#include "probe/samples.h"
#include "workloads/caches/caches.h"

enum {
    SCRATCH_BYTES = 64 << 10, /* holds /proc/self/maps and every header */
    ROUNDING_BYTES = 1024,
    ALONE_STACK_BYTES = 1536, /* of stack that launches were seen to write, with the frames that call them */
    LATER_WARMUP = 3,         /* launches before each later block: they meet what settling left cold */
    SETTLE_NS = 1000000       /* lets deferred kernel work (RCU freeing) end before the next block */
};

static int64_t cold_blocks(const struct request *request) {
    return request->workload->has_temperature && request->cold ? 1 : 0;
}

static int64_t warm_blocks(const struct request *request) {
    return request->workload->has_temperature && !request->warm ? 0 : request->blocks;
}

/* What is small is not worth asking the machine: that would cost the cold launch something. */
static int map_arena(struct arena *arena, size_t bytes, bool may_fill_hole, struct reason *reason) {
    const struct limits_need need = {.memory_bytes = (int64_t)bytes};
    int error = bytes > LIMITS_MARGIN_BYTES ? limits_check("", &need, reason) : 0;
    return error != 0 ? error : arena_map(arena, bytes, may_fill_hole);
}

static int map_all(struct measurement *measurement, const struct request *request, struct reason *reason) {
    struct bench *bench = &measurement->bench;
    struct arena *arena = &measurement->arena;
    int64_t cold = cold_blocks(request);
    int64_t warm = warm_blocks(request);
    size_t launchers = (size_t)request->concurrency;
    size_t launch_bytes = launchers * (size_t)rows_each(request) * request->workload->rows.bytes;
    size_t sample_bytes = (size_t)(cold + warm * request->samples) * launch_bytes;
    size_t block_bytes = (size_t)(cold + warm) * sizeof(struct block);
    size_t parent_bytes = parent_shared_bytes(request) * launchers;
    size_t stamp_bytes = launchers * STAMP_PAGE_BYTES;
    size_t all_bytes = stamp_bytes + sample_bytes + block_bytes + parent_bytes + crew_bytes(request) +
                       caches_shared_bytes(request) + 2 * sizeof(struct sys_cpus) + SCRATCH_BYTES +
                       ROUNDING_BYTES;
    /* What is locked counts with all its addresses. */
    int error = map_arena(arena, all_bytes, request->mlockall == 0, reason);
    if (error != 0) {
        return error;
    }
    bench->stamps_fd = arena->fd;
    bench->stamps = arena_take(arena, stamp_bytes);
    measurement->scratch = arena_take(arena, SCRATCH_BYTES);
    measurement->scratch_bytes = SCRATCH_BYTES;
    measurement->blocks = arena_take(arena, block_bytes);
    bench->affinity = arena_take(arena, sizeof *bench->affinity);
    measurement->allowed = arena_take(arena, sizeof *measurement->allowed);
    bench->parent.shared = arena_take(arena, parent_bytes);
    bench->walker = caches_shared_bytes(request) > 0 ? arena_take(arena, caches_shared_bytes(request)) : NULL;
    measurement->crew = launchers > 1 ? arena_take(arena, crew_bytes(request)) : NULL;
    struct sample *samples = arena_take(arena, sample_bytes);
    if (samples == NULL) {
        return -ENOMEM;
    }
    /* The rows of warm blocks come later: zeroing 2 MB before a fresh process's first launch cools the caches
     * that it meets, and that launch then takes an eighth longer. */
    bool later = cold > 0 && measurement->crew == NULL;
    arena_populate(arena, later ? (const unsigned char *)samples + (size_t)cold * launch_bytes : NULL);
    for (int64_t i = 0; i < cold + warm; i++) {
        int64_t earlier = i < cold ? 0 : cold + (i - cold) * request->samples;
        measurement->blocks[i].samples =
            rows_at(request->workload, samples, earlier * request->concurrency * rows_each(request));
    }
    /* Without a file, children reach the stamp page through their own mapping of it: a fault more in each. */
    bench->stamp_by_write = request->workload->task.copies_memory && arena->fd >= 0;
    /* What prepares may use the stamp page even when nothing is stamped. */
    measurement->children_stamp =
        !bench->stamp_by_write && (bench->stamp_child || request->workload->prepare != NULL);
    /* Launchers that are processes need the arena; they keep it from their own children. */
    return measurement->crew != NULL && request->launchers == LAUNCHERS_PROCESSES
               ? 0
               : arena_keep_from_children(arena, !measurement->children_stamp);
}

static bool is_pinned(const struct request *request) {
    return request->placement == PLACEMENT_PINNED && !request->workload->places_itself;
}

static int place(struct measurement *measurement, const struct request *request, struct reason *reason) {
    int error = sys_allowed(measurement->allowed);
    if (error != 0) {
        return reason_set(reason, error, "the CPU affinity cannot be read: %s", strerror(-error));
    }
    *measurement->bench.affinity = *measurement->allowed;
    if (!is_pinned(request)) {
        return 0;
    }
    int cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(measurement->allowed);
    error = sys_pin(cpu);
    if (error == 0) {
        error = sys_allowed(measurement->allowed);
    }
    return error != 0 ? reason_set(reason, error, "cannot be pinned to CPU %d: %s", cpu, strerror(-error))
                      : 0;
}

/* Each fork copies all descriptors, 0.06 us each, and a child whose only word is its first stamp, sent by the
 * event, needs none of the arena's file. */
static void close_unneeded_file(struct measurement *measurement) {
    struct bench *bench = &measurement->bench;
    const struct workload *workload = bench->request->workload;
    bool only_stamps = workload->rows.of_launches && workload->rows.bytes == sizeof(struct launch_row);
    if (bench->stamp_by_write && only_stamps && (!bench->stamp_child || bench->stamp_event >= 0)) {
        close(bench->stamps_fd);
        bench->stamps_fd = measurement->arena.fd = -EBADF;
    }
}

int measure_prepare(struct measurement *measurement, const struct request *request, struct reason *reason) {
    struct bench *bench = &measurement->bench;
    bench->request = request;
    bench->stamp_child = request->stages == STAGES_ALL;
    bench->stamp_event = -1;
    clock_used.kind = (enum clock_kind)request->clock_kind;
    clock_used.hz = request->clock_kind == CLOCK_KIND_TSC ? (uint64_t)request->clock_hz : 1000000000U;
    int error = request->workload->needs.available != NULL ? request->workload->needs.available(reason) : 0;
    if (error != 0) {
        return error;
    }
    error = request->workload->needs.check != NULL ? request->workload->needs.check(request, reason) : 0;
    if (error != 0) {
        return error;
    }
    error = parent_check(request, reason);
    error = error != 0 ? error : map_all(measurement, request, reason);
    if (error != 0) {
        return reason->text[0] != '\0'
                   ? error
                   : reason_set(reason, error, "memory for %lld samples cannot be mapped: %s",
                                (long long)request->samples * request->blocks * request->concurrency,
                                strerror(-error));
    }
    error = place(measurement, request, reason);
    if (error == 0 && measurement->crew != NULL) {
        return crew_start(measurement->crew, measurement, reason);
    }
    if (error == 0 && request->workload->prepare != NULL) {
        error = request->workload->prepare(bench, reason);
    }
    if (error != 0) {
        return error;
    }
    rows_open_event(bench);
    error = parent_build(bench, reason);
    if (error == 0) {
        close_unneeded_file(measurement);
    } else if (request->workload->finish != NULL) {
        request->workload->finish(bench);
    }
    return error;
}

static void add_cpu(struct block *block, int32_t cpu) {
    for (int i = 0; i < block->cpus; i++) {
        if (block->cpu[i] == cpu) {
            return;
        }
    }
    if (cpu >= 0 && block->cpus < MEASURE_MOST_CPUS) {
        block->cpu[block->cpus++] = cpu;
    }
}

/* After the block, never before the cold launch: the chain would warm the core up. */
static void measure_frequency(const struct measurement *measurement, struct block *block) {
    for (int64_t i = 0; i < block->rows; i++) {
        const struct sample *row = rows_at(measurement->bench.request->workload, block->samples, i);
        add_cpu(block, row->cpu_before);
        add_cpu(block, row->cpu_child);
    }
    if (is_pinned(measurement->bench.request) && measurement->crew == NULL) {
        block->cpus = 0;
        add_cpu(block, (int32_t)clock_read().cpu);
        block->effective_mhz[0] = clock_effective_mhz();
        return;
    }
    for (int i = 0; i < block->cpus; i++) {
        block->effective_mhz[i] = sys_pin(block->cpu[i]) == 0 ? clock_effective_mhz() : 0.0;
    }
    sys_allow(measurement->allowed);
}

/* What preparing needed of the stack lies below this frame, page after page that each fork would copy: they
 * are given back, but for what a launch needs, since the cold one must not fault them in. The range may
 * reach below the stack, where nothing is: the kernel keeps that free (stack_guard_gap), and goes on after
 * what is not mapped. */
static void give_stack_back(size_t page_bytes) {
    /* Launches were seen to need 1 KiB; where they bind symbols, the dynamic linker saves all registers. */
    enum { LAUNCH_BYTES = 2048, BINDING_LAUNCH_BYTES = 4096, RANGE_BYTES = 128 << 10 };
    uintptr_t kept = strcmp(options_linkage(), "dynamic_lazy") == 0 ? BINDING_LAUNCH_BYTES : LAUNCH_BYTES;
    uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - kept) & ~((uintptr_t)page_bytes - 1);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this stack */
    (void)madvise((void *)(end - RANGE_BYTES), RANGE_BYTES, MADV_DONTNEED);
}

__attribute__((noinline)) static int measure_from_here(struct measurement *measurement, struct block *block,
                                                       int64_t rows) {
    struct usage before;
    struct usage after;
    give_stack_back(measurement->arena.page_bytes);
    usage_read(&before);
    int64_t wall_start = rows_monotonic_ns();
    block->start_ticks = clock_read().ticks;
    int error = rows_measure(&measurement->bench, block->samples, rows, &block->rows);
    block->wall_ns = rows_monotonic_ns() - wall_start;
    usage_read(&after);
    usage_add(&block->usage, &before, &after);
    return error;
}

/* All that launches write of the stack lies on one page: a second is a fault more in the parent and in the
 * child, in those processes where chance puts the stack so: one of fourteen. */
static int measure_alone(struct measurement *measurement, struct block *block, int64_t rows) {
    parent_facts_read(&block->parent, measurement->scratch, measurement->scratch_bytes);
    size_t left = (uintptr_t)__builtin_frame_address(0) % measurement->arena.page_bytes;
    if (left < ALONE_STACK_BYTES) {
        const void *skipped = alloca(left);
        __asm__ volatile("" ::"r"(skipped)); /* or the compiler leaves it out */
    }
    return measure_from_here(measurement, block, rows);
}

static int measure_block(struct measurement *measurement, struct block *block, int64_t rows,
                         struct reason *reason) {
    int error = measurement->crew != NULL ? crew_measure(measurement->crew, block, rows, reason)
                                          : measure_alone(measurement, block, rows);
    if (error == 0) {
        measure_frequency(measurement, block);
        measurement->block_count++;
    }
    return error;
}

static void settle(void) {
    struct timespec pause = {.tv_nsec = SETTLE_NS};
    nanosleep(&pause, NULL);
}

/* Launches that are thrown away; `limited`: no longer than a block may last. */
static int forget(struct measurement *measurement, const struct workload *workload, int64_t launches,
                  bool limited, struct reason *reason) {
    struct sample *scrap = measurement->blocks[measurement->block_count].samples;
    return measurement->crew != NULL ? crew_forget(measurement->crew, workload, launches, limited, reason)
                                     : rows_forget(&measurement->bench, workload, launches, limited, scrap);
}

/* What the fresh process has launched before its cold sample: one of another kind, some of its own. */
static int live_before_cold(struct measurement *measurement, struct reason *reason) {
    static const char *const KINDS[] = {NULL, "launch.fork", "launch.vfork", "launch.pthread"};
    const struct request *request = measurement->bench.request;
    int error = request->after == AFTER_NONE
                    ? 0
                    : forget(measurement, workload_find(KINDS[request->after]), 1, false, reason);
    return error != 0 || request->launch_number <= 1
               ? error
               : forget(measurement, request->workload, request->launch_number - 1, false, reason);
}

int measure_run(struct measurement *measurement, struct reason *reason) {
    const struct request *request = measurement->bench.request;
    int64_t warmup = request->warmup;
    int error = 0;
    if (cold_blocks(request) > 0) {
        measurement->blocks[0].temperature = "cold";
        error = live_before_cold(measurement, reason);
        error = error != 0 ? error : measure_block(measurement, &measurement->blocks[0], 1, reason);
        arena_populate(&measurement->arena, NULL);
    }
    for (int64_t i = 0; error == 0 && i < warm_blocks(request); i++) {
        struct block *block = &measurement->blocks[measurement->block_count];
        settle();
        block->temperature = request->workload->has_temperature ? "warm" : NULL;
        /* Warm-up launches are made like measured ones, within the time limit of a block. */
        error = forget(measurement, request->workload, warmup, true, reason);
        warmup = warmup < LATER_WARMUP ? warmup : LATER_WARMUP;
        error = error != 0 ? error : measure_block(measurement, block, request->samples, reason);
        if (request->block_limit_ns > 0 && block->wall_ns > ROWS_SLOW_BLOCK_NS &&
            block->wall_ns > request->block_limit_ns) {
            break; /* more processes tell more than more blocks of this one */
        }
    }
    if (measurement->crew != NULL) {
        crew_end(measurement->crew);
    } else if (request->workload->finish != NULL) {
        request->workload->finish(&measurement->bench);
    }
    parent_end(&measurement->bench);
    return error != 0 && reason->text[0] == '\0'
               ? reason_set(reason, error, "the parent's memory cannot be kept in its state: %s",
                            strerror(-error))
               : error;
}
