/* What each worker does, whether it is a thread or a process. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sys.h"
#include "workloads/work/work.h"

/* Binds worker i to the i-th CPU below the highest, round and round. */
static int place(const struct worker *worker) {
    const struct sys_cpus *allowed = &worker->work->affinity;
    int cpu = sys_highest_cpu(allowed);
    for (int skip = worker->number % sys_cpu_count(allowed); skip > 0; skip--) {
        do {
            cpu = cpu > 0 ? cpu - 1 : sys_highest_cpu(allowed);
        } while (!sys_cpu_in(allowed, cpu));
    }
    return sys_pin(cpu);
}

/* One number: found, counted, written. */
static int do_number(struct worker *worker, uint32_t number, const struct outlet *outlet, char *line) {
    uint32_t factors[32];
    bool at_root = worker->work->request->cutoff == CUTOFF_SQRT;
    int count = work_factors(number, at_root, factors, &worker->counts.divisions);
    /* One by one, as naive code counts: where the counters lie side by side, each is a line that moves. */
    for (int i = 0; i < count; i++) {
        ++*worker->counter;
    }
    return work_outlet_write(outlet, line, work_line(number, factors, count, line));
}

/* What burian-2015's program does: its big numbers, each of one word, are never freed. Written, or the kernel
 * would have nothing to do. */
static int leak(uint32_t number) {
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the leak is what is measured */
    for (int i = 0; i < WORK_LEAKED_BLOCKS; i++) {
        volatile uint64_t *block = malloc(WORK_LEAKED_BYTES);
        if (block == NULL) {
            return -ENOMEM;
        }
        *block = number;
    }
    return 0;
}

static int do_numbers(struct worker *worker, const struct outlet *outlet) {
    const struct request *request = worker->work->request;
    bool allocates = request->allocate == ALLOCATE_EACH_NUMBER;
    char line[WORK_LINE_BYTES];
    uint32_t cpu = worker->begins.cpu;
    int error = 0;
    for (uint32_t number = 1; error == 0 && number <= (uint32_t)request->numbers; number++) {
        char *buffer = allocates ? malloc(WORK_LINE_BYTES) : line;
        if (buffer == NULL) {
            return -ENOMEM;
        }
        error = request->allocate == ALLOCATE_LEAKED ? leak(number) : 0;
        error = error != 0 ? error : do_number(worker, number, outlet, buffer);
        if (allocates) {
            free(buffer);
        }
        uint32_t now = sys_cpu();
        worker->counts.migrations += now != cpu;
        cpu = now;
        if (__atomic_load_n(&worker->work->stop, __ATOMIC_RELAXED) != 0) {
            break;
        }
    }
    return error;
}

/* Time spent runnable but not running: the second number, in ns. A task that is new has all its wait here. */
static int64_t run_queue_wait_ns(void) {
    char text[128];
    char *end = text;
    if (sys_read_file("/proc/thread-self/schedstat", text, sizeof text) <= 0) {
        return INT64_MIN;
    }
    (void)strtoll(text, &end, 10);
    return strtoll(end, NULL, 10);
}

static void count(struct worker *worker) {
    struct rusage usage;
    struct timespec cpu;
    getrusage(RUSAGE_THREAD, &usage);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    worker->counts.cpu_ns = (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec;
    worker->counts.voluntary_switches = usage.ru_nvcsw;
    worker->counts.involuntary_switches = usage.ru_nivcsw;
    worker->counts.minor_faults = usage.ru_minflt;
    worker->counts.major_faults = usage.ru_majflt;
    worker->counts.run_queue_wait_ns = run_queue_wait_ns();
}

static int get_ready(const struct worker *worker) {
    const struct request *request = worker->work->request;
    int error = request->cpus == CPUS_SPREAD ? place(worker) : 0;
    return error == 0 && request->file_table == FILE_TABLE_OWN && unshare(CLONE_FILES) != 0 ? -errno : error;
}

void work_serve(struct worker *worker) {
    struct work *work = worker->work;
    struct outlet outlet;
    int error = get_ready(worker);
    if (work->request->release == RELEASE_TOGETHER) {
        tally_add(&work->ready);
        gate_pass(&work->gate, work->round);
    }
    worker->begins = clock_read();
    error = error != 0 ? error : work_outlet_open(worker, &outlet);
    if (error == 0) {
        error = do_numbers(worker, &outlet);
        int close_error = work_outlet_close(&outlet);
        error = error != 0 ? error : close_error;
    }
    /* Before the last stamp: a worker that is pushed aside while it reads them waits longer than it has
     * lived. */
    count(worker);
    worker->ends = clock_read();
    worker->error = -error;
    if (error != 0) {
        __atomic_store_n(&work->stop, 1, __ATOMIC_RELAXED);
    }
}
