#include "workloads/caches/caches.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/caches/walker.h"
#include "workloads/wake/asleep.h"

enum { LOOK_AFTER_NS = 1000000000, WALKER_KERNEL_BYTES = 1 << 20 };

static const int64_t MOST_IDLE_NS = 10000000000;
static const int64_t MOST_THRASH_BYTES = (int64_t)1 << 40;

size_t caches_shared_bytes(const struct request *request) {
    return request->caches == CACHES_THRASHED ? sizeof(struct walker) : 0;
}

void caches_need(const struct request *request, struct limits_need *need) {
    if (request->caches == CACHES_THRASHED) {
        need->memory_bytes += request->thrash_bytes + WALKER_KERNEL_BYTES;
        need->tasks++;
    }
}

static int check_sense(const struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    if (request->idle_ns > MOST_IDLE_NS) {
        return reason_set(reason, -EOPNOTSUPP, "idle_ns=%lld: at most %lld", (long long)request->idle_ns,
                          (long long)MOST_IDLE_NS);
    }
    if (request->caches != CACHES_THRASHED) {
        return 0;
    }
    if (request->thrash_bytes > MOST_THRASH_BYTES) {
        return reason_set(reason, -ENOMEM, "larger than any machine allows: thrash_bytes is at most %lld",
                          (long long)MOST_THRASH_BYTES);
    }
    if (bench->stamps_fd < 0) {
        return reason_set(reason, bench->stamps_fd,
                          "caches=thrashed needs a memory file for two programs to meet in: %s",
                          strerror(-bench->stamps_fd));
    }
    if (request->placement == PLACEMENT_FREE) {
        return reason_set(reason, -EOPNOTSUPP,
                          "caches=thrashed is about the caches of one CPU, which placement=free does not "
                          "name: ask for placement=pinned or caches=idle");
    }
    if (request->concurrency > 1) {
        return reason_set(reason, -EOPNOTSUPP,
                          "caches=thrashed is for one launcher: ask for concurrency=1 or caches=idle");
    }
    return request->thrash_cpu == THRASH_CPU_SAME || sys_cpu_count(bench->affinity) > 1
               ? 0
               : reason_set(reason, -EOPNOTSUPP,
                            "thrash_cpu=other needs two CPUs, but the affinity of this process has one");
}

/* The CPUs of the walking task: the parent's one, or all others that this process was given. */
static int find_cpus(const struct bench *bench, struct sys_cpus *cpus) {
    int error = sys_allowed(cpus);
    for (size_t i = 0; error == 0 && bench->request->thrash_cpu == THRASH_CPU_OTHER &&
                       i < sizeof cpus->words / sizeof cpus->words[0];
         i++) {
        cpus->words[i] = bench->affinity->words[i] & ~cpus->words[i];
    }
    return error;
}

static int start(struct bench *bench) {
    struct walker *walker = bench->walker;
    char where[64];
    char word[] = CACHES_WALKER_WORD;
    char name[] = "clonometer-walker";
    char *arguments[] = {name, word, where, NULL};
    snprintf(where, sizeof where, "%d:%lld", bench->stamps_fd,
             (long long)((char *)walker - (char *)bench->stamps));
    int error = find_cpus(bench, &walker->cpus);
    if (error != 0) {
        return error;
    }
    walker->starter = getpid();
    walker->bytes = bench->request->thrash_bytes;
    pid_t pid;
    error = -posix_spawn(&pid, sys_own_program(), NULL, NULL, arguments, environ);
    walker->process = error == 0 ? pid : 0;
    return error;
}

/* Waits until the walker has finished so many walks and sleeps again: what it does after its last one must
 * not run inside the launch. */
static int await(struct walker *walker, uint32_t walks) {
    while (tally_await(&walker->done, walks, LOOK_AFTER_NS) != 0) {
        if (waitpid(walker->process, NULL, WNOHANG) == walker->process) {
            walker->process = 0;
            return -ECHILD;
        }
    }
    return walker->error != 0 ? walker->error : asleep_wait(walker->process, walker->process);
}

int caches_build(struct bench *bench, struct reason *reason) {
    int error = check_sense(bench, reason);
    if (error != 0 || bench->request->caches != CACHES_THRASHED) {
        return error;
    }
    error = start(bench);
    error = error != 0 ? error : await(bench->walker, 1);
    if (error != 0) {
        caches_end(bench);
        return reason_set(reason, error,
                          "the task that walks %lld bytes to thrash the caches cannot start, or is not seen "
                          "asleep in /proc: %s",
                          (long long)bench->request->thrash_bytes, strerror(-error));
    }
    return 0;
}

int caches_before_launch(const struct bench *bench) {
    switch (bench->request->caches) {
    case CACHES_IDLE:
        sys_sleep(bench->request->idle_ns);
        return 0;
    case CACHES_THRASHED:
        bench->walker->walks++;
        gate_open(&bench->walker->gate);
        return await(bench->walker, 1 + bench->walker->walks);
    default:
        return 0;
    }
}

void caches_end(struct bench *bench) {
    int status;
    if (bench->walker != NULL && bench->walker->process > 0) {
        kill(bench->walker->process, SIGKILL);
        (void)sys_wait(bench->walker->process, &status);
        bench->walker->process = 0;
    }
}
