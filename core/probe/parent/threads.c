/* Further threads in the parent. Their stacks are the C library's, since after a fork the child's library
 * goes through the list of them (glibc nptl, __reclaim_stacks) and that is part of what threads cost a fork.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/sys.h"
#include "probe/parent/parts.h"
#include "workloads/gate/gate.h"

struct parent_threads {
    struct gate end;
    struct tally started;
    const struct request *request;
    struct sys_cpus others; /* the CPUs of busy threads */
    pthread_t threads[];
};

enum { WORK_ROUNDS = 10000 };

size_t parent_shared_bytes(const struct request *request) {
    return request->parent_threads == 0
               ? 0
               : sizeof(struct parent_threads) + (size_t)request->parent_threads * sizeof(pthread_t);
}

/* Registers only: memory of their own would make them a load on caches, which is another question. */
static void compute(struct gate *end) {
    uint64_t value = 1;
    while (!gate_is_open(end, 1)) {
        for (int i = 0; i < WORK_ROUNDS; i++) {
            __asm__ volatile("" : "+r"(value));
            value = value * 6364136223846793005U + 1442695040888963407U;
        }
    }
}

static void *run(void *argument) {
    struct parent_threads *all = argument;
    if (all->request->thread_state == THREAD_BUSY) {
        (void)sys_allow(&all->others);
        tally_add(&all->started);
        compute(&all->end);
        return NULL;
    }
    tally_add(&all->started);
    gate_pass(&all->end, 1);
    return NULL;
}

static int only_one_cpu(struct reason *reason) {
    return reason_set(reason, -EAGAIN,
                      "there is no CPU besides the measured one: busy threads would compete with it");
}

int parent_thread_state_available(int64_t state, struct reason *reason) {
    struct sys_cpus allowed;
    bool alone = state == THREAD_BUSY && sys_allowed(&allowed) == 0 && sys_cpu_count(&allowed) == 1;
    return alone ? only_one_cpu(reason) : 0;
}

/* Keeps busy threads off the CPU that is measured. */
static int find_others(const struct bench *bench, struct sys_cpus *others, struct reason *reason) {
    struct sys_cpus measured;
    *others = *bench->affinity;
    if (bench->request->thread_state != THREAD_BUSY || bench->request->placement == PLACEMENT_FREE) {
        return 0;
    }
    int error = sys_allowed(&measured);
    if (error != 0) {
        return reason_set(reason, error, "the CPU affinity cannot be read: %s", strerror(-error));
    }
    for (size_t i = 0; i < sizeof measured.words / sizeof measured.words[0]; i++) {
        others->words[i] &= ~measured.words[i];
    }
    return sys_cpu_count(others) > 0 ? 0 : only_one_cpu(reason);
}

static int start_all(struct bench *bench, struct parent_threads *all) {
    size_t least = (size_t)PTHREAD_STACK_MIN;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    error = pthread_attr_setstacksize(&attributes,
                                      least > PARENT_THREAD_STACK_BYTES ? least : PARENT_THREAD_STACK_BYTES);
    for (int64_t i = 0; error == 0 && i < bench->request->parent_threads; i++) {
        error = pthread_create(&all->threads[i], &attributes, run, all);
        bench->parent.threads += error == 0;
    }
    pthread_attr_destroy(&attributes);
    return -error;
}

int parent_threads_build(struct bench *bench, struct reason *reason) {
    struct parent_threads *all = bench->parent.shared;
    if (bench->request->parent_threads == 0) {
        return 0;
    }
    memset(all, 0, sizeof *all);
    all->request = bench->request;
    int error = find_others(bench, &all->others, reason);
    if (error != 0) {
        return error;
    }
    error = start_all(bench, all);
    if (error != 0) {
        return reason_set(reason, error, "only %lld of %lld further threads could be started: %s",
                          (long long)bench->parent.threads, (long long)bench->request->parent_threads,
                          strerror(-error));
    }
    (void)tally_await(&all->started, (uint32_t)bench->parent.threads, -1);
    return 0;
}

void parent_threads_end(struct bench *bench) {
    struct parent_threads *all = bench->parent.shared;
    if (bench->parent.threads == 0) {
        return;
    }
    gate_open(&all->end);
    for (int64_t i = 0; i < bench->parent.threads; i++) {
        pthread_join(all->threads[i], NULL);
    }
    bench->parent.threads = 0;
}
