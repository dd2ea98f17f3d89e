#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workloads/contend/contend.h"

enum {
    WORKER_STACK_BYTES = 128 << 10,
    LOOK_AFTER_NS = 100000000 /* how often a waiting starter looks whether processes still live */
};

static bool are_processes(const struct contend *contend) {
    return contend->bench->request->task_kind == TASK_KIND_PROCESS;
}

/* Worker i is bound to the i-th CPU below the first one's, round and round. */
static int place(const struct contend_worker *self) {
    const struct sys_cpus *affinity = &self->contend->affinity;
    const struct request *request = self->contend->bench->request;
    if (request->placement == PLACEMENT_FREE) {
        return 0;
    }
    int cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(affinity);
    for (int skip = self->number % self->contend->cpus; skip > 0; skip--) {
        do {
            cpu = cpu > 0 ? cpu - 1 : sys_highest_cpu(affinity);
        } while (!sys_cpu_in(affinity, cpu));
    }
    return sys_pin(cpu);
}

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Batch after batch until the starter has seen enough. One that fails ends the worker's part of the round. */
static void work(struct contend_worker *self, uint32_t round) {
    struct contend *contend = self->contend;
    uint64_t before = cpu_ns();
    uint64_t batches = 0;
    do {
        self->error = contend->ways->batch(self);
        batches++;
        __atomic_store_n(&self->batches, self->batches + 1, __ATOMIC_RELEASE);
    } while (self->error == 0 && __atomic_load_n(&contend->stopped, __ATOMIC_ACQUIRE) < round);
    self->round = batches;
    self->cpu = cpu_ns() - before;
}

void contend_serve(struct contend_worker *self) {
    struct contend *contend = self->contend;
    self->error = place(self);
    if (self->error == 0 && contend->ways->open != NULL) {
        self->error = contend->ways->open(self);
    }
    bool opened = self->error == 0;
    tally_add(&contend->ready);
    for (uint32_t round = 1;; round++) {
        gate_pass(&contend->gate, round);
        if (contend->over) {
            break;
        }
        work(self, round);
        tally_add_of(&contend->done, (uint32_t)contend->count);
    }
    if (opened && contend->ways->close != NULL) {
        contend->ways->close(self);
    }
}

static void *serve_as_thread(void *argument) {
    contend_serve(argument);
    return NULL;
}

static int start_threads(struct contend *contend) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    error = pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    for (int i = 0; error == 0 && i < contend->count; i++) {
        struct contend_worker *worker = &contend->workers[i];
        error = pthread_create(&worker->thread, &attributes, serve_as_thread, worker);
        contend->started += error == 0;
    }
    pthread_attr_destroy(&attributes);
    return -error;
}

static int start_processes(struct contend *contend) {
    pid_t starter = getpid();
    for (int i = 0; i < contend->count; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            return -errno;
        }
        if (pid == 0) {
            /* It dies with the starter; one that was orphaned before it could ask for that ends itself. */
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != starter) {
                _exit(1);
            }
            contend_serve(&contend->workers[i]);
            _exit(0);
        }
        /* Only here: the memory is shared, and fork's 0 in the child would take the place of its number. */
        contend->workers[i].pid = pid;
        contend->started++;
    }
    return 0;
}

int contend_start_tasks(struct contend *contend, struct reason *reason) {
    int error = are_processes(contend) ? start_processes(contend) : start_threads(contend);
    return error == 0 ? 0
                      : reason_set(reason, error, "only %d of %d workers could be started: %s",
                                   contend->started, contend->count, strerror(-error));
}

/* Whether a worker process has ended unasked. */
static bool one_died(struct contend *contend) {
    bool died = false;
    for (int i = 0; i < contend->started; i++) {
        pid_t pid = contend->workers[i].pid;
        if (pid > 0 && waitpid(pid, NULL, WNOHANG) == pid) {
            contend->workers[i].pid = 0;
            died = true;
        }
    }
    return died;
}

int contend_await(struct contend *contend, struct tally *tally, uint32_t count) {
    while (tally_await(tally, count, LOOK_AFTER_NS) != 0) {
        if (one_died(contend)) {
            return -ECHILD;
        }
    }
    return 0;
}

void contend_reap(struct contend *contend, bool kill_them) {
    for (int i = 0; i < contend->started; i++) {
        struct contend_worker *worker = &contend->workers[i];
        if (!are_processes(contend)) {
            pthread_join(worker->thread, NULL);
        } else if (worker->pid > 0) {
            int status = 0;
            if (kill_them) {
                kill(worker->pid, SIGKILL);
            }
            (void)sys_wait(worker->pid, &status);
            worker->pid = 0;
        }
    }
    contend->started = 0;
}
