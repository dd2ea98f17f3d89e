/* work.factor
 * Timed: a whole program of W workers that each decompose the integers from 1 to N by trial division and
 * write the results: from before the shared file is opened and the first worker launched until the last one
 * is reaped and the file closed (release=together: from the release of waiting workers until the last one's
 * last stamp). Of every worker: its first and last own stamps, CPU time, switches, faults, and its wait in
 * run queues since its birth. Outside: the probe's own start, which /usr/bin/time would count; removing the
 * files. Bias: a worker reads its counters just before its last stamp (some microseconds), looks
 * which CPU it is on after each number (some nanoseconds), and a process worker asks to die with its parent.
 * Migrations are those seen from number to number: at least so many. Source: burian-2015 (experiments 1 and
 * 2); getrusage(2), RUSAGE_THREAD; Documentation/scheduler/sched-stats.rst.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/work/work.h"

static int64_t workers_of(const struct request *request) {
    return request->workers;
}

static void *map_memory(size_t length, int sharing) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Counters in private memory: threads share it, and each process has a copy of its own. */
static int give_memory(struct work *work) {
    const struct request *request = work->request;
    size_t count = (size_t)request->workers;
    size_t step = request->counters == COUNTERS_ADJACENT ? sizeof(uint64_t) : WORK_APART_BYTES;
    bool prefaulted = request->worker_memory == WORKER_MEMORY_PREFAULTED;
    work->workers = map_memory(count * sizeof *work->workers, MAP_SHARED);
    work->counters = map_memory(count * step, MAP_PRIVATE);
    char *stacks = prefaulted ? map_memory(count * WORK_STACK_BYTES, MAP_PRIVATE) : NULL;
    char *buffers = prefaulted ? map_memory(count * WORK_BUFFER_BYTES, MAP_PRIVATE) : NULL;
    if (work->workers == NULL || work->counters == NULL ||
        (prefaulted && (stacks == NULL || buffers == NULL))) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        work->workers[i] = (struct worker){.work = work,
                                           .number = (int)i,
                                           .counter = (uint64_t *)(void *)(work->counters + i * step),
                                           .stack = prefaulted ? stacks + i * WORK_STACK_BYTES : NULL,
                                           .buffer = prefaulted ? buffers + i * WORK_BUFFER_BYTES : NULL};
    }
    return 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    struct work *work = map_memory(sizeof *work, MAP_SHARED);
    if (work == NULL) {
        return reason_set(reason, -ENOMEM, "no memory for the workers: %s", strerror(errno));
    }
    work->request = request;
    work->affinity = *bench->affinity;
    work->starter = getpid();
    work->append_fd = -1;
    int error = give_memory(work);
    if (error != 0) {
        return reason_set(reason, error, "no memory for %lld workers", (long long)request->workers);
    }
    work->cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(bench->affinity);
    if (request->cpus == CPUS_ONE) {
        error = sys_pin(work->cpu);
        if (error != 0) {
            return reason_set(reason, error, "cannot be pinned to CPU %d: %s", work->cpu, strerror(-error));
        }
    }
    bench->state = work;
    error = request->output == OUTPUT_NONE ? 0 : work_folder_make(work, reason);
    if (error == 0 && request->result_files == FILES_OVERWRITTEN) {
        error = work_output_fill(work);
        if (error != 0) {
            work_folder_remove(work);
            return reason_set(reason, error, "the files to be overwritten cannot be written: %s",
                              strerror(-error));
        }
    }
    return error;
}

static void fill_row(struct worker_row *row, const struct worker *worker, uint64_t begins, int error) {
    row->sample.before = begins;
    row->sample.error = (int16_t)error;
    row->worker = (int16_t)worker->number;
    row->execution = worker->work->executions;
    row->sample.cpu_before = (int32_t)worker->begins.cpu;
    row->sample.cpu_after = (int32_t)worker->ends.cpu;
    row->sample.cpu_child = -1;
    if (error != 0) {
        return;
    }
    row->begins = worker->begins.ticks;
    row->ends = worker->ends.ticks;
    row->works = worker->ends.ticks - worker->begins.ticks;
    row->counts = worker->counts;
}

/* A row a worker; the first has what is true of the whole execution. If one fails, all have its errno: what
 * the others took is not what they take in company. */
static int launch(const struct bench *bench, struct sample *sample) {
    struct work *work = bench->state;
    struct worker_row *rows = (struct worker_row *)(void *)sample;
    struct stamp begins = {0};
    struct stamp ends = {0};
    /* Anew each time: the CPUs' frequency was read meanwhile, on all of them. */
    int error = bench->request->cpus == CPUS_ONE ? sys_pin(work->cpu) : 0;
    error = error != 0 ? error : work_execute(work, &begins, &ends);
    for (int64_t i = 0; i < bench->request->workers; i++) {
        fill_row(&rows[i], &work->workers[i], begins.ticks, -error);
    }
    if (error == 0) {
        rows[0].whole_ends = ends.ticks;
        rows[0].whole_took = ends.ticks - begins.ticks;
    }
    work->executions++;
    return error;
}

static void finish(struct bench *bench) {
    work_folder_remove(bench->state);
}

static const char *tunables(const struct request *request) {
    switch (request->allocator) {
    case ALLOCATOR_ONE_HEAP:
        return "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0";
    case ALLOCATOR_MAPPED:
        return "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=1";
    default:
        return NULL;
    }
}

static const struct null_reason *nulls_here(void) {
    static const struct null_reason NO_SCHEDSTAT[] = {
        {"run_queue_wait_ns", "this kernel does not report it in /proc (CONFIG_SCHED_INFO)"}, {NULL, NULL}};
    return access("/proc/thread-self/schedstat", R_OK) == 0 ? NULL : NO_SCHEDSTAT;
}

#define SAMPLE(field) offsetof(struct sample, field)
#define ROW(field) offsetof(struct worker_row, field)

static const struct column COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, SAMPLE(before), NULL, NULL},
    {"execution", COLUMN_COUNT, ROW(execution), NULL, NULL},
    {"worker", COLUMN_LAUNCHER, ROW(worker), NULL, NULL},
    {"whole_ns", COLUMN_SINCE_BEFORE, ROW(whole_ends), NULL,
     "the whole program, until all workers are reaped"},
    {"whole_each_ns", COLUMN_EACH, ROW(whole_took), NULL,
     "the whole program's time, divided by the number of workers"},
    {"worker_begins_ns", COLUMN_SINCE_BEFORE, ROW(begins), NULL,
     "from the start of the whole until the first instruction of a worker's own code"},
    {"worker_ends_ns", COLUMN_SINCE_BEFORE, ROW(ends), NULL,
     "from the start of the whole until a worker has finished its work"},
    {"worker_works_ns", COLUMN_DURATION, ROW(works), NULL, "from a worker's start to its end"},
    {"worker_cpu_ns", COLUMN_NS, ROW(counts.cpu_ns), NULL, "CPU time of a worker"},
    {"run_queue_wait_ns", COLUMN_NS, ROW(counts.run_queue_wait_ns), NULL,
     "time that a worker was ready to run but waiting for a CPU"},
    {"voluntary_switches", COLUMN_COUNT, ROW(counts.voluntary_switches), NULL,
     "number of times a worker went to sleep"},
    {"involuntary_switches", COLUMN_COUNT, ROW(counts.involuntary_switches), NULL,
     "number of times a worker was preempted"},
    {"minor_faults", COLUMN_COUNT, ROW(counts.minor_faults), NULL,
     "page faults of a worker that needed no disk"},
    {"major_faults", COLUMN_COUNT, ROW(counts.major_faults), NULL,
     "page faults of a worker that needed the disk"},
    {"migrations", COLUMN_COUNT, ROW(counts.migrations), NULL,
     "number of times a worker changed CPU, at least"},
    {"divisions", COLUMN_COUNT, ROW(counts.divisions), NULL, "trial divisions of a worker"},
    {"cpu_at_begin", COLUMN_CPU, SAMPLE(cpu_before), NULL, NULL},
    {"cpu_at_end", COLUMN_CPU, SAMPLE(cpu_after), NULL, NULL},
    {"errno", COLUMN_ERRNO, SAMPLE(error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const DETAILS[] = {
    "whole_each_ns",
    "worker_begins_ns",
    "worker_ends_ns",
    "worker_works_ns",
    "worker_cpu_ns",
    "run_queue_wait_ns",
    "voluntary_switches",
    "minor_faults",
    "major_faults",
    "migrations",
    "divisions",
    "involuntary_switches",
    NULL,
};
static const char *const AXES[] = {
    "linkage",    "task_kind", "workers",  "numbers",       "cutoff",        "output",
    "stdio_lock", "writing",   "allocate", "allocator",     "worker_memory", "file_table",
    "counters",   "release",   "cpus",     "output_folder", "result_files",  NULL,
};

const struct workload work_factor = {
    .id = "work.factor",
    .family = "work",
    .summary = "workers factor all integers up to a number by trial division and write the results",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .answers.details = DETAILS,
    .answers.nulls_here = nulls_here,
    .needs.tunables = tunables,
    ROWS_OF(worker_row),
    .rows.each = workers_of,
    .places_itself = true,
    .needs.check = work_check,
    .prepare = prepare,
    .launch = launch,
    .rows.operations = workers_of,
    .finish = finish,
};
