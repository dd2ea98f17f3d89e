/* footprint.thread
 * Taken: memory before any thread, and while all of them idle, divided by their number; of the process, how
 * much its address space and pages grew. Timed: from before the first pthread_create until every thread has
 * run and said so, and from before they are let go until the last is joined. Outside: settling and reading.
 * Bias: the C library's cache of stacks is switched off, since a stack that is kept holds its pages. With the
 * whole machine's account, whatever else allocates meanwhile is counted. Source: proc(5), cgroups(7),
 * pthread_create(3); glibc nptl/allocatestack.c.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "workloads/footprint/footprint.h"
#include "workloads/gate/gate.h"

/* Of a thread, rounded up: kernel stack, structures, the pages of its stack that starting it writes. */
enum { KERNEL_BYTES = 64 << 10 };

/* Threads wait here; in the stamp page, behind the stamps. */
struct crowd {
    struct stamps stamps;
    struct gate end;
    struct tally idle;
    const struct request *request;
};
_Static_assert(sizeof(struct crowd) <= STAMP_PAGE_BYTES, "it lies in the stamp page");

static void *idle(void *argument) {
    struct crowd *crowd = argument;
    footprint_touch_stack(crowd->request->touched_bytes);
    tally_add(&crowd->idle);
    gate_pass(&crowd->end, 1);
    return NULL;
}

static int64_t start_all(struct crowd *crowd, pthread_t *threads, int *error) {
    pthread_attr_t attributes;
    size_t least = (size_t)PTHREAD_STACK_MIN;
    size_t stack_bytes = (size_t)crowd->request->stack_bytes;
    int64_t started = 0;
    *error = -pthread_attr_init(&attributes);
    if (*error == 0 && stack_bytes > 0) {
        *error = -pthread_attr_setstacksize(&attributes, stack_bytes > least ? stack_bytes : least);
    }
    while (*error == 0 && started < crowd->request->tasks) {
        *error = -pthread_create(&threads[started], &attributes, idle, crowd);
        started += *error == 0;
    }
    pthread_attr_destroy(&attributes);
    return started;
}

static int64_t join_all(struct crowd *crowd, const pthread_t *threads, int64_t count) {
    int error = 0;
    gate_open(&crowd->end);
    for (int64_t i = 0; i < count; i++) {
        int join_error = -pthread_join(threads[i], NULL);
        error = error != 0 ? error : join_error;
    }
    return error;
}

static int read_growth(const struct task_memory *before, struct footprint_row *row) {
    struct task_memory now;
    int error = task_memory_read(getpid(), &now);
    row->task = (struct task_memory){.virtual_bytes = now.virtual_bytes - before->virtual_bytes,
                                     .resident_bytes = now.resident_bytes - before->resident_bytes,
                                     .private_bytes = now.private_bytes - before->private_bytes};
    return error;
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct footprint_row *row = (struct footprint_row *)(void *)sample;
    struct crowd *crowd = (struct crowd *)(void *)bench->stamps;
    pthread_t *threads = footprint_list(bench);
    struct task_memory before;
    crowd->end = (struct gate){0};
    crowd->idle = (struct tally){0};
    crowd->request = bench->request;
    int error = task_memory_read(getpid(), &before);
    error = error != 0 ? error : footprint_before(bench);
    if (error != 0) {
        return error;
    }
    struct stamp start = clock_read();
    int64_t started = start_all(crowd, threads, &error);
    (void)tally_await(&crowd->idle, (uint32_t)started, -1);
    row->create_ticks = clock_read().ticks - start.ticks;
    error = error != 0 ? error : footprint_after(bench, row);
    error = error != 0 ? error : read_growth(&before, row);
    uint64_t end = clock_read().ticks;
    int join_error = (int)join_all(crowd, threads, started);
    row->reap_ticks = clock_read().ticks - end;
    sample->cpu_before = (int32_t)start.cpu;
    return error != 0 ? error : join_error;
}

static int prepare(struct bench *bench, struct reason *reason) {
    pthread_attr_t attributes;
    size_t stack_bytes = (size_t)bench->request->stack_bytes;
    if (stack_bytes == 0 && pthread_attr_init(&attributes) == 0) {
        (void)pthread_attr_getstacksize(&attributes, &stack_bytes);
        pthread_attr_destroy(&attributes);
    }
    struct limits_need each = {
        .memory_bytes = KERNEL_BYTES, .address_bytes = (int64_t)stack_bytes, .areas = 2};
    return footprint_prepare(bench, sizeof(pthread_t), &each, reason);
}

static const char *tunables(const struct request *request) {
    (void)request;
#ifdef __GLIBC__
    return "glibc.pthread.stack_cache_size=0";
#else
    return NULL;
#endif
}

static const char *const AXES[] = {"linkage",       "placement",  "tasks", "stack_bytes",
                                   "touched_bytes", "accounting", NULL};

const struct workload footprint_thread = {
    .id = "footprint.thread",
    FOOTPRINT_FACTS,
    .summary = "what each of many idle threads holds, and how long it takes to create and join them",
    .axes = AXES,
    .needs.tunables = tunables,
    .prepare = prepare,
    .launch = launch,
};
