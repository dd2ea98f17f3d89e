#include "workloads/switch/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/limits/limits.h"
#include "probe/parent/parent.h"
#include "workloads/launch/launch.h"

enum {
    CACHE_LINE_BYTES = 64,
    SAMPLE_WORK_BYTES = 16 << 20, /* a sample walks no more memory than this, a single lap aside */
    DESCRIPTOR_BYTES = 8 << 10    /* what the kernel keeps of a pipe or socket that holds a few bytes */
};

const struct column RING_COLUMNS[] = {
    RING_COLUMNS_COMMON,
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const RING_AXES[] = {"linkage",    "placement",         "partner_cpu", "task_kind",
                                 "ring_tasks", "working_set_bytes", NULL};

static int laps_of(const struct request *request) {
    int64_t laps = RING_HANDOVERS / request->ring_tasks;
    int64_t lap_bytes = request->ring_tasks * request->working_set_bytes;
    if (lap_bytes > 0 && laps * lap_bytes > SAMPLE_WORK_BYTES) {
        laps = SAMPLE_WORK_BYTES / lap_bytes;
    }
    return laps > 1 ? (int)laps : 1;
}

int64_t ring_operations(const struct request *request) {
    return laps_of(request) * request->ring_tasks;
}

/* The work of a task that has its turn: one word of each cache line of its own memory is read and written. */
static void visit(struct ring *ring, int task) {
    struct channel *channel = &ring->channels[task];
    for (size_t at = 0; at < ring->set_bytes; at += CACHE_LINE_BYTES) {
        (*(volatile uint64_t *)(channel->set + at))++;
    }
    if (ring->watch) {
        channel->cpu = (int32_t)sys_cpu();
        ring->crossings += channel->cpu != ring->last_cpu;
        ring->last_cpu = channel->cpu;
    }
}

static void work(void *state, int task) {
    struct ring *ring = state;
    int next = task + 1 < ring->tasks ? task + 1 : 0;
    while (ring->ways->wait(ring, task) == 0) {
        visit(ring, task);
        if (ring->ways->post(ring, next) != 0) {
            return;
        }
    }
}

static int map_set(void *state, int task, struct reason *reason) {
    struct ring *ring = state;
    int error = ring->set_bytes == 0 ? 0 : team_map(ring->set_bytes, false, &ring->channels[task].set);
    return error != 0
               ? reason_set(reason, error, "a task's working set cannot be mapped: %s", strerror(-error))
               : 0;
}

static int check(const struct request *request, const struct ring_ways *ways, struct reason *reason) {
    int64_t tasks = request->ring_tasks;
    int64_t set = request->working_set_bytes;
    if (tasks < 2 || tasks > TEAM_MOST_TASKS) {
        return reason_set(reason, -EOPNOTSUPP, "ring_tasks=%lld: from 2 to %d", (long long)tasks,
                          TEAM_MOST_TASKS);
    }
    if (set > INT64_MAX / TEAM_MOST_TASKS / 2) {
        return reason_set(reason, -EOPNOTSUPP, "working_set_bytes=%lld: no memory is that large",
                          (long long)set);
    }
    int error = ways->check != NULL ? ways->check(request, reason) : 0;
    if (error != 0) {
        return error;
    }
    int64_t descriptors = tasks * ways->descriptors;
    struct limits_need need = {
        .memory_bytes = tasks * (team_member_bytes(request) + set) + descriptors * DESCRIPTOR_BYTES,
        .tasks = tasks + 1,
        .descriptors = descriptors,
        .files = descriptors,
    };
    error = limits_check("", &need, reason);
    return error != 0 ? error : parent_files_raise(descriptors, reason);
}

static int open_all(struct ring *ring, struct reason *reason) {
    for (int i = 0; ring->ways->open != NULL && i < ring->tasks; i++) {
        int error = ring->ways->open(&ring->channels[i]);
        if (error != 0) {
            return reason_set(reason, error, "the means to wake task %d of %d cannot be created: %s", i + 1,
                              ring->tasks, strerror(-error));
        }
    }
    return 0;
}

int ring_prepare(struct bench *bench, const struct ring_ways *ways, struct reason *reason) {
    const struct request *request = bench->request;
    int error = check(request, ways, reason);
    if (error != 0) {
        return error;
    }
    size_t length = sizeof(struct ring) + (size_t)request->ring_tasks * sizeof(struct channel);
    struct ring *ring = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for the ring: %s", strerror(errno));
    }
    ring->ways = ways;
    ring->tasks = (int)request->ring_tasks;
    ring->laps = laps_of(request);
    ring->shared = team_of_processes(request);
    ring->watch = request->placement == PLACEMENT_FREE;
    ring->set_bytes = (size_t)request->working_set_bytes;
    ring->mapped = length;
    ring->turn = RING_NOBODYS;
    ring->process = getpid();
    ring->task = sys_task();
    struct team_duty duty = {.prepare = map_set, .work = work, .state = ring};
    error = open_all(ring, reason);
    error = error != 0 ? error : team_start(bench, ring->tasks - 1, &duty, &ring->team, reason);
    /* After the start: a forked task would begin with a copy of it. */
    error = error != 0 ? error : map_set(ring, 0, reason);
    bench->state = ring;
    if (error != 0) {
        ring_finish(bench);
    }
    return error;
}

void ring_finish(struct bench *bench) {
    struct ring *ring = bench->state;
    if (ring->team != NULL) {
        team_end(ring->team);
    }
    munmap(ring, ring->mapped);
    bench->state = NULL;
}

pid_t ring_process_of(const struct ring *ring, int task) {
    return task == 0 || !ring->shared ? ring->process : ring->team->members[task - 1].process;
}

pid_t ring_task_of(const struct ring *ring, int task) {
    return task == 0 ? ring->task : ring->team->members[task - 1].task;
}

static int alone(struct ring *ring, int64_t times) {
    int error = 0;
    for (int64_t i = 0; error == 0 && i < times; i++) {
        if (ring->ways->alone != NULL) {
            error = ring->ways->alone(ring);
        } else {
            error = ring->ways->post(ring, 0);
            error = error != 0 ? error : ring->ways->wait(ring, 0);
        }
        visit(ring, 0);
    }
    return error;
}

static int laps(struct ring *ring, int count) {
    int error = 0;
    for (int i = 0; error == 0 && i < count; i++) {
        error = ring->ways->post(ring, 1);
        error = error != 0 ? error : ring->ways->wait(ring, 0);
        visit(ring, 0);
    }
    return error;
}

/* Where the others ran: on the caller's CPU, each on another than the one before it, or neither. */
static int32_t other_cpu(const struct bench *bench, const struct ring *ring, int32_t caller_cpu) {
    if (!ring->watch) {
        return team_cpu(bench, 1);
    }
    if (ring->crossings == 0) {
        return caller_cpu;
    }
    return ring->crossings == (int64_t)ring->laps * ring->tasks ? ring->channels[1].cpu : -1;
}

static int64_t yields_of(const struct ring *ring) {
    int64_t sum = 0;
    for (int i = 0; ring->ways->counts_yields && i < ring->tasks; i++) {
        sum += (int64_t)ring->channels[i].yields;
    }
    return sum;
}

int ring_launch(const struct bench *bench, struct sample *sample) {
    struct ring *ring = bench->state;
    struct ring_row *row = (struct ring_row *)(void *)sample;
    int64_t times = (int64_t)ring->laps * ring->tasks;
    /* Who has lost a task would only sleep. */
    int error = team_over(ring->team) ? -ECHILD : alone(ring, 1);
    struct stamp start = clock_read();
    error = error != 0 ? error : alone(ring, times);
    uint64_t alone_ticks = clock_read().ticks - start.ticks;
    error = error != 0 || ring->ways->begin == NULL ? error : ring->ways->begin(ring);
    error = error != 0 ? error : laps(ring, 1);
    int64_t yields = yields_of(ring);
    ring->crossings = 0;
    launch_before(sample);
    error = error != 0 ? error : laps(ring, ring->laps);
    struct stamp end = clock_read();
    row->yields = yields_of(ring) - yields;
    error = error != 0 || ring->ways->end == NULL ? error : ring->ways->end(ring);
    sample->cpu_after = (int32_t)end.cpu;
    sample->cpu_child = other_cpu(bench, ring, sample->cpu_before);
    row->handovers = end.ticks - sample->before;
    row->alone = alone_ticks;
    row->difference = (int64_t)(row->handovers - alone_ticks);
    return error;
}
