#include "workloads/wake/wake.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/limits/limits.h"
#include "workloads/launch/launch.h"
#include "workloads/wake/asleep.h"

const struct column WAKE_COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},
    {"call_returns_ns", COLUMN_SINCE_BEFORE, offsetof(struct wake_row, call_returns), "call_returns",
     "until the call returns in the parent"},
    {"task_runs_ns", COLUMN_SINCE_BEFORE, offsetof(struct wake_row, task_runs), "task_runs",
     "until the first instruction of the new task's own code"},
    {"answered_ns", COLUMN_SINCE_BEFORE, offsetof(struct wake_row, answered), NULL,
     "until the woken worker's answer has woken the caller"},
    {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},
    {"cpu_after", COLUMN_CPU, offsetof(struct sample, cpu_after), NULL, NULL},
    {"cpu_child", COLUMN_CPU, offsetof(struct sample, cpu_child), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const WAKE_AXES[] = {AXES_PLACE, AXES_SPIN, NULL};

static void work(const struct bench *bench, const struct wake_ways *ways) {
    struct wake *wake = bench->state;
    __atomic_store_n(&wake->task, sys_task(), __ATOMIC_RELEASE);
    for (;;) {
        ways->wait_call(wake);
        if (wake->stop) {
            return;
        }
        launch_task_runs(bench);
        launch_before_exit(bench);
        ways->answer(wake);
    }
}

/* What the two sides meet in. The limits are asked first. */
static int meet(struct bench *bench, const struct wake_ways *ways, struct reason *reason) {
    struct limits_need need = {.tasks = 2};
    int error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    if (access("/proc/self/stat", R_OK) != 0) {
        return reason_set(reason, -ENOENT,
                          "/proc is not mounted, and nothing else tells that the worker sleeps");
    }
    struct wake *wake = mmap(NULL, sizeof *wake, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (wake == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory to share with the worker: %s", strerror(errno));
    }
    bench->state = wake;
    error = ways->open != NULL ? ways->open(wake) : 0;
    return error != 0
               ? reason_set(reason, error, "the means to wake it cannot be created: %s", strerror(-error))
               : 0;
}

/* The worker's first sleep. */
static int settle(const struct wake *wake, struct reason *reason) {
    struct timespec pause = {.tv_nsec = 100000};
    while (__atomic_load_n(&wake->task, __ATOMIC_ACQUIRE) == 0) {
        nanosleep(&pause, NULL);
    }
    int error = asleep_wait(wake->process, wake->task);
    return error != 0
               ? reason_set(reason, error, "the worker cannot be seen asleep in /proc: %s", strerror(-error))
               : 0;
}

int wake_start_process(struct bench *bench, const struct wake_ways *ways, struct reason *reason) {
    int error = meet(bench, ways, reason);
    if (error != 0) {
        return error;
    }
    struct wake *wake = bench->state;
    pid_t probe = getpid();
    pid_t worker = fork();
    if (worker == 0) {
        /* It lives long: it must not outlive the probe. One that had died before the call took effect shows
         * as another parent. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != probe) {
            _exit(1);
        }
        work(bench, ways);
        _exit(0);
    }
    if (worker < 0) {
        return reason_set(reason, -errno, "the worker cannot be started: %s", strerror(errno));
    }
    /* Only here: the memory is shared, and fork's 0 in the child would take the place of its number. */
    wake->process = worker;
    error = settle(wake, reason);
    if (error != 0) {
        wake_end_process(bench, ways);
    }
    return error;
}

struct thread_start {
    const struct bench *bench;
    const struct wake_ways *ways;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    work(start.bench, start.ways);
    return NULL;
}

int wake_start_thread(struct bench *bench, const struct wake_ways *ways, struct reason *reason) {
    int error = meet(bench, ways, reason);
    if (error != 0) {
        return error;
    }
    struct wake *wake = bench->state;
    /* The thread has copied it before it says its number, and until then this function waits. */
    struct thread_start start = {bench, ways};
    error = pthread_create(&wake->thread, NULL, run_thread, &start);
    if (error != 0) {
        return reason_set(reason, -error, "the worker cannot be started: %s", strerror(error));
    }
    error = settle(wake, reason);
    if (error != 0) {
        wake_end_thread(bench, ways);
    }
    return error;
}

int wake_once(const struct bench *bench, const struct wake_ways *ways, struct sample *sample) {
    struct wake *wake = bench->state;
    int error = asleep_wait(wake->process, wake->task);
    if (error != 0) {
        return error;
    }
    struct wake_row *row = (struct wake_row *)(void *)sample;
    launch_before(sample);
    ways->call(wake);
    launch_spin_call(bench);
    row->call_returns = clock_read().ticks;
    ways->wait_answer(wake);
    struct stamp end = clock_read();
    row->answered = end.ticks;
    row->task_runs = bench->stamps->task_ticks;
    sample->cpu_after = (int32_t)end.cpu;
    sample->cpu_child = bench->stamps->task_cpu;
    return 0;
}

void wake_end_process(struct bench *bench, const struct wake_ways *ways) {
    (void)ways;
    struct wake *wake = bench->state;
    int status;
    /* kill(0) would end the whole process group. */
    if (wake->process > 0) {
        kill(wake->process, SIGKILL);
        sys_wait(wake->process, &status);
        wake->process = 0;
    }
}

void wake_end_thread(struct bench *bench, const struct wake_ways *ways) {
    struct wake *wake = bench->state;
    wake->stop = true;
    ways->call(wake);
    pthread_join(wake->thread, NULL);
}
