/* One execution: launches the workers, lets them work, reaps them. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/work/work.h"

enum { LOOK_AFTER_NS = 1000000000 }; /* how often a waiting starter looks whether processes still live */

static void *serve_as_thread(void *argument) {
    work_serve(argument);
    return NULL;
}

static int start_thread(struct worker *worker) {
    pthread_attr_t attributes;
    if (worker->stack == NULL) {
        return -pthread_create(&worker->thread, NULL, serve_as_thread, worker);
    }
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        error = pthread_attr_setstack(&attributes, worker->stack, WORK_STACK_BYTES);
        error = error != 0 ? error : pthread_create(&worker->thread, &attributes, serve_as_thread, worker);
        pthread_attr_destroy(&attributes);
    }
    return -error;
}

/* A worker dies with its starter, however that ends: it may have hours of work before it. */
__attribute__((noreturn)) static void serve_as_process(struct worker *worker) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == worker->work->starter) {
        work_serve(worker);
        _exit(0);
    }
    _exit(1);
}

static int start(struct worker *worker) {
    int error = 0;
    if (worker->work->request->task_kind == TASK_KIND_THREAD) {
        error = start_thread(worker);
    } else {
        /* The worker's memory is shared: what the child stored there, the starter would find. */
        pid_t pid = fork();
        if (pid == 0) {
            serve_as_process(worker);
        }
        error = pid < 0 ? -errno : 0;
        worker->pid = pid > 0 ? pid : 0;
    }
    worker->started = error == 0;
    worker->error = -error;
    return error;
}

/* Waits for the end of a worker. One that a signal ended has -ECHILD, as a launch has. */
static void reap(struct worker *worker) {
    if (!worker->started) {
        return;
    }
    if (worker->work->request->task_kind == TASK_KIND_THREAD) {
        pthread_join(worker->thread, NULL);
    } else {
        int status = 0;
        int error = sys_wait(worker->pid, &status);
        if (error != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            worker->error = error != 0 ? -error : ECHILD;
        }
        worker->pid = 0;
    }
    worker->started = false;
}

static bool one_died(const struct work *work, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        siginfo_t ended = {0};
        pid_t pid = work->workers[i].pid;
        if (pid > 0 && waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
            ended.si_pid == pid) {
            return true;
        }
    }
    return false;
}

/* Lets all begin at once. A worker that was killed before shows when it is reaped. */
static struct stamp release(struct work *work, int64_t count, int error) {
    while (tally_await(&work->ready, (uint32_t)count, LOOK_AFTER_NS) != 0 && !one_died(work, count)) {
    }
    if (error != 0) {
        __atomic_store_n(&work->stop, 1, __ATOMIC_RELAXED);
    }
    struct stamp begins = clock_read();
    gate_open(&work->gate);
    return begins;
}

static int launch_all(struct work *work, struct stamp *begins) {
    bool together = work->request->release == RELEASE_TOGETHER;
    int64_t workers = work->request->workers;
    int64_t started = 0;
    int error = 0;
    while (error == 0 && started < workers) {
        error = start(&work->workers[started]);
        started += error == 0;
    }
    if (together) {
        *begins = release(work, started, error);
    } else if (error != 0) {
        __atomic_store_n(&work->stop, 1, __ATOMIC_RELAXED);
    }
    return error;
}

static void forget_last(struct work *work) {
    for (int64_t i = 0; i < work->request->workers; i++) {
        struct worker *worker = &work->workers[i];
        worker->error = 0;
        worker->counts.divisions = 0;
        worker->counts.migrations = 0;
        *worker->counter = 0;
    }
    work->ready.count = 0;
    work->stop = 0;
    work->round++;
}

int work_execute(struct work *work, struct stamp *begins, struct stamp *ends) {
    forget_last(work);
    *begins = clock_read();
    int error = work_output_open(work);
    error = error != 0 ? error : launch_all(work, begins);
    for (int64_t i = 0; i < work->request->workers; i++) {
        reap(&work->workers[i]);
        error = error != 0 ? error : -work->workers[i].error;
    }
    int close_error = work_output_close(work);
    *ends = clock_read();
    error = error != 0 ? error : close_error;
    work_output_remove(work);
    if (work->request->release == RELEASE_TOGETHER && error == 0) {
        /* The work alone: until the last worker's last stamp. */
        *ends = work->workers[0].ends;
        for (int64_t i = 1; i < work->request->workers; i++) {
            *ends = work->workers[i].ends.ticks > ends->ticks ? work->workers[i].ends : *ends;
        }
    }
    return error;
}
