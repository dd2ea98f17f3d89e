#include "measure.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "clock/clock.h"
#include "samples/samples.h"
#include "sys/sys.h"

enum {
    SCRATCH_BYTES = 64 << 10, /* holds /proc/self/maps and every header */
    ROUNDING_BYTES = 1024,
    LATER_WARMUP = 3,   /* launches before each later block: they meet what settling left cold */
    FEWEST_ROWS = 3,    /* a block holds at least these, whatever its time limit */
    SETTLE_NS = 1000000 /* lets deferred kernel work (RCU freeing) end before the next block */
};

static int64_t timespec_ns(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return timespec_ns(now);
}

static int64_t cpu_ns(const struct rusage *usage) {
    return ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
           ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static int64_t cold_blocks(const struct request *request) {
    return request->workload->has_temperature && request->cold ? 1 : 0;
}

static int64_t warm_blocks(const struct request *request) {
    return request->workload->has_temperature && !request->warm ? 0 : request->blocks;
}

static int map_all(struct measurement *measurement, const struct request *request) {
    int64_t cold = cold_blocks(request);
    int64_t warm = warm_blocks(request);
    size_t sample_bytes = (size_t)(cold + warm * request->samples) * sizeof(struct sample);
    size_t block_bytes = (size_t)(cold + warm) * sizeof(struct block);
    struct arena arena;
    size_t parent_bytes = parent_shared_bytes(request);
    int error = arena_map(&arena, sample_bytes + block_bytes + parent_bytes + sizeof(struct sys_cpus) +
                                      SCRATCH_BYTES + ROUNDING_BYTES);
    if (error != 0) {
        return error;
    }
    measurement->bench.stamps_fd = arena.fd;
    measurement->bench.stamps = arena_take(&arena, sizeof *measurement->bench.stamps);
    measurement->scratch = arena_take(&arena, SCRATCH_BYTES);
    measurement->scratch_bytes = SCRATCH_BYTES;
    measurement->blocks = arena_take(&arena, block_bytes);
    measurement->bench.affinity = arena_take(&arena, sizeof *measurement->bench.affinity);
    measurement->bench.parent.shared = arena_take(&arena, parent_bytes);
    struct sample *samples = arena_take(&arena, sample_bytes);
    if (samples == NULL) {
        return -ENOMEM;
    }
    for (int64_t i = 0; i < cold + warm; i++) {
        measurement->blocks[i].samples = i < cold ? samples : samples + cold + (i - cold) * request->samples;
    }
    /* A child that execs reports a failure through the stamp page even when it stamps nothing. */
    return arena_keep_from_children(&arena,
                                    !measurement->bench.stamp_child && request->workload->prepare == NULL);
}

static int place(struct measurement *measurement, const struct request *request, struct reason *reason) {
    int error = sys_allowed(&measurement->allowed);
    if (error != 0) {
        return reason_set(reason, error, "the CPU affinity cannot be read: %s", strerror(-error));
    }
    *measurement->bench.affinity = measurement->allowed;
    if (request->placement == PLACEMENT_FREE) {
        return 0;
    }
    int cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(&measurement->allowed);
    error = sys_pin(cpu);
    if (error == 0) {
        error = sys_allowed(&measurement->allowed);
    }
    return error != 0 ? reason_set(reason, error, "cannot be pinned to CPU %d: %s", cpu, strerror(-error))
                      : 0;
}

int measure_prepare(struct measurement *measurement, const struct request *request, struct reason *reason) {
    struct bench *bench = &measurement->bench;
    bench->request = request;
    bench->stamp_child = request->stages == STAGES_ALL;
    clock_used.kind = (enum clock_kind)request->clock_kind;
    clock_used.hz = request->clock_kind == CLOCK_KIND_TSC ? (uint64_t)request->clock_hz : 1000000000U;
    int error = request->workload->available != NULL ? request->workload->available(reason) : 0;
    if (error != 0) {
        return error;
    }
    error = map_all(measurement, request);
    if (error != 0) {
        return reason_set(reason, error, "memory for %lld samples cannot be mapped: %s",
                          (long long)request->samples * request->blocks, strerror(-error));
    }
    error = place(measurement, request, reason);
    if (error == 0 && request->workload->prepare != NULL) {
        error = request->workload->prepare(bench, reason);
    }
    if (error != 0) {
        return error;
    }
    error = parent_build(bench, reason);
    if (error != 0 && request->workload->finish != NULL) {
        request->workload->finish(bench);
    }
    return error;
}

static void launch_as(struct bench *bench, const struct workload *workload, struct sample *sample) {
    struct stamps *stamps = bench->stamps;
    memset(stamps, 0, sizeof *stamps);
    stamps->task_cpu = -1;
    stamps->image_cpu = -1;
    sample->cpu_child = -1;
    int error = workload->launch(bench, sample);
    sample->error = -error;
    if (error != 0) {
        /* Half a launch has no durations. */
        sample->call_returns = 0;
        sample->reaped = 0;
        return;
    }
    sample->task_runs = stamps->task_ticks;
    sample->image_runs = stamps->image_ticks;
    sample->cpu_child = stamps->task_cpu >= 0 ? stamps->task_cpu : stamps->image_cpu;
}

static void launch_once(struct bench *bench, struct sample *sample) {
    launch_as(bench, bench->request->workload, sample);
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
        add_cpu(block, block->samples[i].cpu_before);
        add_cpu(block, block->samples[i].cpu_child);
    }
    if (measurement->bench.request->placement == PLACEMENT_PINNED) {
        block->cpus = 0;
        add_cpu(block, (int32_t)clock_read().cpu);
        block->effective_mhz[0] = clock_effective_mhz();
        return;
    }
    for (int i = 0; i < block->cpus; i++) {
        block->effective_mhz[i] = sys_pin(block->cpu[i]) == 0 ? clock_effective_mhz() : 0.0;
    }
    sys_allow(&measurement->allowed);
}

static int measure_block(struct measurement *measurement, struct block *block, int64_t rows) {
    struct bench *bench = &measurement->bench;
    struct rusage before[2];
    struct rusage after[2];
    parent_facts_read(&block->parent, measurement->scratch, measurement->scratch_bytes);
    getrusage(RUSAGE_SELF, &before[0]);
    getrusage(RUSAGE_CHILDREN, &before[1]);
    int64_t limit_ticks =
        (int64_t)((unsigned __int128)bench->request->block_limit_ns * clock_used.hz / 1000000000U);
    int64_t wall_start = monotonic_ns();
    block->start_ticks = clock_read().ticks;
    for (block->rows = 0; block->rows < rows;) {
        int error = parent_before_launch(bench);
        if (error != 0) {
            return error;
        }
        struct sample *sample = &block->samples[block->rows++];
        launch_once(bench, sample);
        if (limit_ticks > 0 && block->rows >= FEWEST_ROWS &&
            (int64_t)(clock_read().ticks - block->start_ticks) > limit_ticks) {
            break;
        }
    }
    block->wall_ns = monotonic_ns() - wall_start;
    getrusage(RUSAGE_SELF, &after[0]);
    getrusage(RUSAGE_CHILDREN, &after[1]);
    block->minor_faults = after[0].ru_minflt - before[0].ru_minflt;
    block->major_faults = after[0].ru_majflt - before[0].ru_majflt;
    block->voluntary_switches = after[0].ru_nvcsw - before[0].ru_nvcsw;
    block->involuntary_switches = after[0].ru_nivcsw - before[0].ru_nivcsw;
    block->self_cpu_ns = cpu_ns(&after[0]) - cpu_ns(&before[0]);
    block->children_cpu_ns = cpu_ns(&after[1]) - cpu_ns(&before[1]);
    measure_frequency(measurement, block);
    measurement->block_count++;
    return 0;
}

static void settle(void) {
    struct timespec pause = {.tv_nsec = SETTLE_NS};
    nanosleep(&pause, NULL);
}

/* One launch that is thrown away. */
static int launch_and_forget(struct measurement *measurement, const struct workload *workload) {
    struct sample *scrap = measurement->blocks[measurement->block_count].samples;
    int error = parent_before_launch(&measurement->bench);
    if (error == 0) {
        launch_as(&measurement->bench, workload, scrap);
        memset(scrap, 0, sizeof *scrap);
    }
    return error;
}

/* What the fresh process has launched before its cold sample: one of another kind, some of its own. */
static int live_before_cold(struct measurement *measurement) {
    static const char *const KINDS[] = {NULL, "launch.fork", "launch.vfork", "launch.pthread"};
    const struct request *request = measurement->bench.request;
    int error = request->after == AFTER_NONE
                    ? 0
                    : launch_and_forget(measurement, workload_find(KINDS[request->after]));
    for (int64_t i = 1; error == 0 && i < request->launch_number; i++) {
        error = launch_and_forget(measurement, request->workload);
    }
    return error;
}

/* Warm-up launches are made like measured ones and thrown away, within the time limit of a block. */
static int warm_up(struct measurement *measurement, int64_t launches) {
    const struct request *request = measurement->bench.request;
    int64_t end_ns = request->block_limit_ns > 0 ? monotonic_ns() + request->block_limit_ns : INT64_MAX;
    int error = 0;
    for (int64_t i = 0; error == 0 && i < launches && monotonic_ns() < end_ns; i++) {
        error = launch_and_forget(measurement, request->workload);
    }
    return error;
}

int measure_run(struct measurement *measurement, struct reason *reason) {
    const struct request *request = measurement->bench.request;
    int64_t warmup = request->warmup;
    int error = 0;
    if (cold_blocks(request) > 0) {
        measurement->blocks[0].temperature = "cold";
        error = live_before_cold(measurement);
        error = error != 0 ? error : measure_block(measurement, &measurement->blocks[0], 1);
    }
    for (int64_t i = 0; error == 0 && i < warm_blocks(request); i++) {
        struct block *block = &measurement->blocks[measurement->block_count];
        settle();
        block->temperature = request->workload->has_temperature ? "warm" : NULL;
        error = warm_up(measurement, warmup);
        warmup = warmup < LATER_WARMUP ? warmup : LATER_WARMUP;
        error = error != 0 ? error : measure_block(measurement, block, request->samples);
    }
    if (request->workload->finish != NULL) {
        request->workload->finish(&measurement->bench);
    }
    parent_end(&measurement->bench);
    return error != 0 ? reason_set(reason, error, "the parent's memory cannot be kept in its state: %s",
                                   strerror(-error))
                      : 0;
}
