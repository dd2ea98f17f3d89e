#include "probe/rows.h"

#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sense.h"
#include "probe/parent/parent.h"

enum { FEWEST_LAUNCHES = 3 }; /* a block holds at least these, whatever its time limit, but slow ones */

int64_t rows_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

WORKLOAD_HOT struct sample *rows_at(const struct workload *workload, struct sample *first, int64_t index) {
    return (struct sample *)(void *)((char *)first + (size_t)index * workload->rows.bytes);
}

int64_t rows_each(const struct request *request) {
    return request->workload->rows.each != NULL ? request->workload->rows.each(request) : 1;
}

void rows_open_event(struct bench *bench) {
    bool wanted = bench->stamp_child && bench->stamp_by_write;
    bench->stamp_event = wanted ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    bench->stamp_base = clock_read().ticks;
}

/* A word that was not sent reads as none. */
static void receive_stamp(const struct bench *bench) {
    uint64_t word = 0;
    if (bench->stamp_event >= 0 && read(bench->stamp_event, &word, sizeof word) == sizeof word) {
        bench->stamps->task_ticks = bench->stamp_base + (word >> STAMP_CPU_BITS);
        bench->stamps->task_cpu = (int32_t)(word & ((1U << STAMP_CPU_BITS) - 1));
    }
}

WORKLOAD_HOT int rows_launch(struct bench *bench, const struct workload *workload, struct sample *sample) {
    int error = bench->parent.prepares ? parent_before_launch(bench) : 0;
    if (error != 0) {
        return error;
    }
    struct stamps *stamps = bench->stamps;
    memset(stamps, 0, sizeof *stamps);
    stamps->task_cpu = -1;
    stamps->image_cpu = -1;
    sample->cpu_child = -1;
    /* Launchers at the same time share cores with one another, which is what is asked for. */
    bool senses = workload->rows.of_launches && bench->request->concurrency == 1;
    uint32_t additions_before = senses ? sense_additions() : 0;
    error = workload->launch(bench, sample);
    uint32_t additions_after = senses ? sense_additions() : 0;
    receive_stamp(bench);
    sample->error = (int16_t)-error;
    if (error != 0 || !workload->rows.of_launches) {
        return 0;
    }
    struct launch_row *row = launch_row(sample);
    row->task_runs = stamps->task_ticks;
    row->image_runs = stamps->image_ticks;
    row->additions_before = additions_before;
    row->additions_after = additions_after;
    sample->cpu_child = stamps->task_cpu >= 0 ? stamps->task_cpu : stamps->image_cpu;
    return 0;
}

int rows_forget(struct bench *bench, const struct workload *workload, int64_t launches, bool limited,
                struct sample *scrap) {
    int64_t limit_ns = bench->request->block_limit_ns;
    int64_t end_ns = limited && limit_ns > 0 ? rows_monotonic_ns() + limit_ns : INT64_MAX;
    size_t scrap_bytes =
        workload->rows.bytes * (size_t)(workload == bench->request->workload ? rows_each(bench->request) : 1);
    int error = 0;
    launches = workload->counts_only ? 0 : launches;
    for (int64_t i = 0; error == 0 && i < launches && rows_monotonic_ns() < end_ns; i++) {
        error = rows_launch(bench, workload, scrap);
        memset(scrap, 0, scrap_bytes);
    }
    return error;
}

/* When the launch into this row ended: by its last stamp where it has one, since each more reading of the
 * clock would be a part of what every launch takes. */
static uint64_t ended_ticks(const struct workload *workload, struct sample *row) {
    uint64_t reaped = workload->rows.of_launches ? launch_row(row)->reaped : 0;
    return reaped != 0 ? reaped : clock_read().ticks;
}

WORKLOAD_HOT int rows_measure(struct bench *bench, struct sample *samples, int64_t most, int64_t *rows) {
    int64_t limit_ticks =
        (int64_t)((unsigned __int128)bench->request->block_limit_ns * clock_used.hz / 1000000000U);
    int64_t slow_ticks = (int64_t)((unsigned __int128)ROWS_SLOW_BLOCK_NS * clock_used.hz / 1000000000U);
    uint64_t start_ticks = clock_read().ticks;
    const struct workload *workload = bench->request->workload;
    int64_t each = rows_each(bench->request);
    most = workload->counts_only ? 1 : most;
    *rows = 0;
    for (int64_t launches = 1; launches <= most; launches++) {
        struct sample *row = rows_at(workload, samples, *rows);
        int error = rows_launch(bench, workload, row);
        if (error != 0) {
            return error;
        }
        *rows += each;
        int64_t ticks = limit_ticks > 0 ? (int64_t)(ended_ticks(workload, row) - start_ticks) : 0;
        if (ticks > limit_ticks && (launches >= FEWEST_LAUNCHES || ticks > slow_ticks)) {
            break;
        }
    }
    return 0;
}

static int64_t time_ns(const struct timeval *time) {
    return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static int64_t cpu_ns(const struct rusage *usage) {
    return time_ns(&usage->ru_utime) + time_ns(&usage->ru_stime);
}

void usage_read(struct usage *usage) {
    struct rusage self;
    struct rusage children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    *usage = (struct usage){.minor_faults = self.ru_minflt,
                            .major_faults = self.ru_majflt,
                            .voluntary_switches = self.ru_nvcsw,
                            .involuntary_switches = self.ru_nivcsw,
                            .self_cpu_ns = cpu_ns(&self),
                            .children_cpu_ns = cpu_ns(&children),
                            .self_system_ns = time_ns(&self.ru_stime),
                            .children_system_ns = time_ns(&children.ru_stime)};
}

void usage_add(struct usage *sum, const struct usage *before, const struct usage *after) {
    sum->minor_faults += after->minor_faults - before->minor_faults;
    sum->major_faults += after->major_faults - before->major_faults;
    sum->voluntary_switches += after->voluntary_switches - before->voluntary_switches;
    sum->involuntary_switches += after->involuntary_switches - before->involuntary_switches;
    sum->self_cpu_ns += after->self_cpu_ns - before->self_cpu_ns;
    sum->children_cpu_ns += after->children_cpu_ns - before->children_cpu_ns;
    sum->self_system_ns += after->self_system_ns - before->self_system_ns;
    sum->children_system_ns += after->children_system_ns - before->children_system_ns;
}
