#include "workloads/contend/contend.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "probe/limits/limits.h"
#include "probe/parent/parts.h"

enum {
    MOST_WORKERS = 1 << 20,          /* more is a mistake; below it no sum of sizes overflows */
    WORKER_KERNEL_BYTES = 256 << 10, /* task_struct, kernel stack, page tables, the pages of its own stack */
    WORKER_AREAS = 6,
    LEAD_STEP_NS = 250000,
    MOST_LEAD_NS = 20000000,
    WINDOW_NS = 5000000, /* hundreds of batches of the dearest operation */
    MOST_WINDOWS = 20,
    MOST_TURNS = 10 /* a window is never longer than so many of these */
};

const struct column CONTEND_COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},
    {"op_ns", COLUMN_REAL_NS, offsetof(struct contend_row, op_ns), NULL,
     "one operation of one worker, with its waiting for a CPU"},
    {"cpu_op_ns", COLUMN_REAL_NS, offsetof(struct contend_row, cpu_op_ns), NULL,
     "CPU time of one operation, without waiting"},
    {"throughput_per_s", COLUMN_PER_SECOND, offsetof(struct contend_row, throughput_per_s), NULL,
     "operations per second of all workers together"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

static int check(const struct request *request, const struct contend_ways *ways, struct reason *reason) {
    if (request->workers > MOST_WORKERS) {
        return reason_set(reason, -EAGAIN, "larger than any machine allows: workers=%" PRId64 ", at most %d",
                          request->workers, MOST_WORKERS);
    }
    struct limits_need need = {
        .tasks = request->workers + 2,
        .memory_bytes = request->workers *
                        (WORKER_KERNEL_BYTES + ways->worker_bytes + ways->pages * parent_small_page_bytes() +
                         ways->blocks * request->allocation_bytes),
        .areas = request->task_kind == TASK_KIND_THREAD ? WORKER_AREAS * request->workers : 0,
        .descriptors = ways->files ? request->workers : 0,
        .files = ways->files ? request->workers : 0,
    };
    return limits_check("", &need, reason);
}

/* What workers and starter meet in. */
static int meet(struct bench *bench, const struct contend_ways *ways) {
    size_t count = (size_t)bench->request->workers;
    size_t bytes =
        sizeof(struct contend) + count * sizeof(struct contend_worker) + count * CONTEND_APART_BYTES;
    struct contend *contend =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (contend == MAP_FAILED) {
        return -errno;
    }
    bench->state = contend;
    contend->bench = bench;
    contend->ways = ways;
    contend->bytes = bytes;
    contend->count = (int)count;
    contend->affinity = *bench->affinity;
    contend->cpus = sys_cpu_count(bench->affinity);
    contend->workers = (struct contend_worker *)(contend + 1);
    contend->counters = (unsigned char *)(contend->workers + count);
    for (int i = 0; i < contend->count; i++) {
        contend->workers[i].contend = contend;
        contend->workers[i].number = i;
    }
    return 0;
}

static int first_error(const struct contend *contend) {
    for (int i = 0; i < contend->started; i++) {
        if (contend->workers[i].error != 0) {
            return contend->workers[i].error;
        }
    }
    return 0;
}

int contend_start(struct bench *bench, const struct contend_ways *ways, struct reason *reason) {
    int error = check(bench->request, ways, reason);
    if (error != 0) {
        return error;
    }
    error = meet(bench, ways);
    if (error != 0) {
        return reason_set(reason, error, "no memory to share with the workers: %s", strerror(-error));
    }
    struct contend *contend = bench->state;
    error = ways->files ? contend_files_make(contend) : 0;
    if (error != 0) {
        reason_set(reason, error, "the workers' files cannot be created in %s: %s",
                   contend->folder[0] != '\0' ? contend->folder : "the folder for temporary files",
                   strerror(-error));
    }
    error = error != 0 ? error : contend_start_tasks(contend, reason);
    if (error == 0 && contend_await(contend, &contend->ready, (uint32_t)contend->started) != 0) {
        error = reason_set(reason, -ECHILD, "a worker died before it started: was it killed?");
    }
    if (error == 0 && first_error(contend) != 0) {
        error = first_error(contend);
        reason_set(reason, error, "a worker cannot start: %s", strerror(-error));
    }
    if (error != 0) {
        contend_end(bench);
    }
    return error;
}

static uint64_t batches_of(const struct contend *contend) {
    uint64_t sum = 0;
    for (int i = 0; i < contend->count; i++) {
        sum += __atomic_load_n(&contend->workers[i].batches, __ATOMIC_ACQUIRE);
    }
    return sum;
}

static bool all_have_begun(const struct contend *contend) {
    for (int i = 0; i < contend->count; i++) {
        if (__atomic_load_n(&contend->workers[i].batches, __ATOMIC_ACQUIRE) == contend->workers[i].before) {
            return false;
        }
    }
    return true;
}

/* Where workers outnumber the CPUs, those that run keep the others from beginning. */
static void await_beginning(const struct contend *contend) {
    int64_t start = (int64_t)clock_read().ticks;
    while (!all_have_begun(contend) && clock_ns((int64_t)clock_read().ticks - start) < MOST_LEAD_NS) {
        sys_sleep(LEAD_STEP_NS);
    }
}

/* Long enough for workers beyond the CPUs to take turns. */
static void sleep_a_window(const struct contend *contend) {
    int turns = (contend->count + contend->cpus - 1) / contend->cpus;
    sys_sleep((turns < MOST_TURNS ? turns : MOST_TURNS) * (long)WINDOW_NS);
}

/* Lets a round begin, takes the window out of its middle, and lets it end. */
static int take_window(struct contend *contend, struct sample *sample, uint64_t *window, uint64_t *batches) {
    uint32_t round = ++contend->rounds;
    uint32_t all = round * (uint32_t)contend->count;
    for (int i = 0; i < contend->count; i++) {
        contend->workers[i].before = contend->workers[i].batches;
    }
    gate_open(&contend->gate);
    await_beginning(contend);
    struct stamp begin = clock_read();
    *batches = batches_of(contend);
    /* Where other work had the CPUs, until the workers have had their turns. */
    for (int i = 0; i < MOST_WINDOWS && (i == 0 || batches_of(contend) - *batches < (uint64_t)contend->count);
         i++) {
        sleep_a_window(contend);
    }
    struct stamp end = clock_read();
    *batches = batches_of(contend) - *batches;
    sample->before = begin.ticks;
    *window = end.ticks - begin.ticks;
    sample->cpu_before = (int32_t)begin.cpu;
    sample->cpu_after = (int32_t)end.cpu;
    __atomic_store_n(&contend->stopped, round, __ATOMIC_RELEASE);
    int error = contend_await(contend, &contend->done, all);
    if (error != 0) {
        contend_reap(contend, true);
        contend->broken = true;
    }
    return error;
}

int contend_window(const struct bench *bench, struct sample *sample) {
    struct contend *contend = bench->state;
    struct contend_row *row = (struct contend_row *)(void *)sample;
    uint64_t window = 0;
    uint64_t batches = 0;
    int error = contend->broken ? -ECHILD : take_window(contend, sample, &window, &batches);
    error = error != 0 ? error : first_error(contend);
    /* Nobody had a turn: the machine was busy with something else. */
    error = error == 0 && batches == 0 ? -EAGAIN : error;
    if (error != 0) {
        return error;
    }
    uint64_t cpu_ns = 0;
    uint64_t whole_rounds = 0;
    for (int i = 0; i < contend->count; i++) {
        cpu_ns += contend->workers[i].cpu;
        whole_rounds += contend->workers[i].round;
    }
    double window_ns = (double)clock_ns((int64_t)window);
    double operations = (double)batches * (double)contend->ways->operations;
    row->op_ns = window_ns * contend->count / operations;
    row->cpu_op_ns = (double)cpu_ns / ((double)whole_rounds * (double)contend->ways->operations);
    row->throughput_per_s = operations * 1e9 / window_ns;
    return 0;
}

void contend_end(struct bench *bench) {
    struct contend *contend = bench->state;
    if (contend == NULL) {
        return;
    }
    contend->over = true;
    gate_open(&contend->gate);
    contend_reap(contend, false);
    contend_files_remove(contend);
    munmap(contend, contend->bytes);
    bench->state = NULL;
}
