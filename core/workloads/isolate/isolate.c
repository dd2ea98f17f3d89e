#include "workloads/isolate/isolate.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/limits/limits.h"
#include "probe/parent/parts.h"

enum { MOST_SIBLINGS = 10000, WORKER_BYTES = 128 << 10 };

static bool by_threads(const struct isolate *isolate) {
    return !isolate->pool && isolate->request->task_kind == TASK_KIND_THREAD;
}

static bool is_silent(const struct isolate *isolate) {
    return isolate->request->fault == FAULT_OVERRUN_NEIGHBOUR;
}

static int start_all(struct isolate *isolate) {
    int error = by_threads(isolate) ? isolate_start_server(isolate) : 0;
    for (int i = 0; error == 0 && i < isolate->count; i++) {
        error = by_threads(isolate) ? 0 : isolate_start_process(&isolate->slots[i]);
    }
    for (int i = 0; error == 0 && i < isolate->count; i++) {
        error = isolate_await(&isolate->slots[i]);
    }
    if (error != 0) {
        isolate_end_all(isolate);
    }
    return error;
}

static int check(const struct request *request, struct reason *reason) {
    if (request->siblings > MOST_SIBLINGS) {
        return reason_set(reason, -EAGAIN, "siblings=%" PRId64 ": at most %d", request->siblings,
                          MOST_SIBLINGS);
    }
    if (request->siblings == 0 && request->fault == FAULT_OVERRUN_NEIGHBOUR) {
        return reason_set(reason, -EOPNOTSUPP,
                          "fault=overrun_neighbour needs a neighbour: ask for siblings=1 or more");
    }
    struct limits_need need = {.tasks = request->siblings + 4,
                               .memory_bytes =
                                   (request->siblings + 2) * WORKER_BYTES + INT64_C(4) * ISOLATE_LEAK_BYTES};
    return limits_check("", &need, reason);
}

/* Private memory is made before anybody is forked: each process has its copy of it. */
static int make_private(struct isolate *isolate) {
    size_t bytes = (size_t)(isolate->count + 1) * ISOLATE_DATA_BYTES;
    isolate->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    isolate->guarded = mmap(NULL, 2 * (size_t)parent_small_page_bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (isolate->data == MAP_FAILED || isolate->guarded == MAP_FAILED ||
        mprotect(isolate->guarded + parent_small_page_bytes(), (size_t)parent_small_page_bytes(),
                 PROT_NONE) != 0) {
        return -errno;
    }
    for (int i = 0; i < isolate->count; i++) {
        memset(isolate->data + (size_t)i * ISOLATE_DATA_BYTES, ISOLATE_OWN(i), ISOLATE_DATA_BYTES);
    }
    return 0;
}

static int prepare(struct bench *bench, bool pool, struct reason *reason) {
    int error = check(bench->request, reason);
    if (error != 0) {
        return error;
    }
    int count = (int)bench->request->siblings + 1 + pool;
    size_t bytes = sizeof(struct isolate) + (size_t)count * sizeof(struct isolate_slot);
    struct isolate *isolate =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (isolate == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory to share with the workers: %s", strerror(errno));
    }
    *isolate = (struct isolate){.bench = bench,
                                .request = bench->request,
                                .bytes = bytes,
                                .supervisor = getpid(),
                                .pool = pool,
                                .count = count,
                                .spare = pool ? count - 1 : -1};
    for (int i = 0; i < count; i++) {
        isolate->slots[i].isolate = isolate;
        isolate->slots[i].number = i;
    }
    bench->state = isolate;
    error = make_private(isolate);
    error = error != 0 ? error : start_all(isolate);
    return error != 0 ? reason_set(reason, error, "the workers cannot be started: %s", strerror(-error)) : 0;
}

/* Has the victim fail and waits until wait says so. */
static int see_it_end(struct isolate *isolate, struct isolate_row *row) {
    struct isolate_slot *victim = &isolate->slots[isolate->victim];
    pid_t *pid = by_threads(isolate) ? &isolate->server : &victim->pid;
    if (isolate->request->fault == FAULT_KILL) {
        victim->fault_ticks = clock_read().ticks;
        /* To the thread alone: the kernel ends its whole process all the same. */
        if (syscall(SYS_tgkill, *pid, victim->task, SIGKILL) != 0) {
            return -errno;
        }
    } else {
        isolate_ask(victim, ISOLATE_FAIL);
    }
    int status = 0;
    int error = sys_wait(*pid, &status);
    row->known = clock_read().ticks;
    *pid = 0;
    row->sample.before = victim->fault_ticks;
    row->end_signal = WIFSIGNALED(status) ? (int16_t)WTERMSIG(status) : 0;
    row->exit_status = WIFEXITED(status) ? (int16_t)WEXITSTATUS(status) : -1;
    return error;
}

/* Who still does a job, and finds its data as it left them. The first that does not is how damage is known.
 */
static int ask_siblings(struct isolate *isolate, struct isolate_row *row) {
    int16_t survivors = 0;
    int16_t damaged = 0;
    for (int i = 0; i < isolate->count; i++) {
        struct isolate_slot *slot = &isolate->slots[i];
        if (i == isolate->victim || i == isolate->spare) {
            continue;
        }
        isolate_ask(slot, ISOLATE_JOB);
        if (isolate_await(slot) != 0) {
            continue;
        }
        survivors++;
        if (slot->damaged != 0 && damaged++ == 0 && row->known == 0) {
            row->known = clock_read().ticks;
        }
    }
    row->survivors = survivors;
    row->damaged = damaged;
    return 0;
}

/* The kernel says nothing of data that were overwritten: the victim goes on, and so does its neighbour. */
static int overrun_neighbour(struct isolate *isolate, struct isolate_row *row) {
    struct isolate_slot *victim = &isolate->slots[isolate->victim];
    isolate_ask(victim, ISOLATE_FAIL);
    int error = isolate_await(victim);
    row->sample.before = victim->fault_ticks;
    row->end_signal = -1;
    row->exit_status = -1;
    error = error != 0 ? error : ask_siblings(isolate, row);
    return error;
}

/* The process with all its threads anew: nothing less brings one of them back. */
static int replace_server(struct isolate *isolate, struct isolate_row *row) {
    isolate_end_all(isolate);
    int error = isolate_start_server(isolate);
    uint64_t last = 0;
    for (int i = 0; error == 0 && i < isolate->count; i++) {
        error = isolate_await(&isolate->slots[i]);
        last = isolate->slots[i].done_ticks > last ? isolate->slots[i].done_ticks : last;
    }
    row->replaced = isolate->slots[isolate->victim].done_ticks;
    row->restored = last;
    return error;
}

static int replace_process(struct isolate *isolate, struct isolate_row *row) {
    int number = isolate->pool ? isolate->spare : isolate->victim;
    struct isolate_slot *slot = &isolate->slots[number];
    int error = 0;
    if (isolate->pool) {
        isolate_ask(slot, ISOLATE_JOB);
    } else {
        error = isolate_start_process(slot);
    }
    error = error != 0 ? error : isolate_await(slot);
    row->replaced = slot->done_ticks;
    return error;
}

/* The pool's next spare comes into the victim's place, and the next victim is another. */
static int refill(struct isolate *isolate) {
    int error = isolate_start_process(&isolate->slots[isolate->victim]);
    error = error != 0 ? error : isolate_await(&isolate->slots[isolate->victim]);
    int spare = isolate->spare;
    isolate->spare = isolate->victim;
    isolate->victim = spare;
    return error;
}

static int incident(struct isolate *isolate, struct isolate_row *row) {
    bool threads = by_threads(isolate);
    int error = is_silent(isolate) ? overrun_neighbour(isolate, row) : see_it_end(isolate, row);
    if (error != 0 || (is_silent(isolate) && row->known == 0)) {
        return error;
    }
    if (threads) {
        return replace_server(isolate, row);
    }
    error = replace_process(isolate, row);
    error = error != 0 ? error : ask_siblings(isolate, row);
    if (error == 0 && row->survivors < isolate->request->siblings) {
        return -ECHILD;
    }
    row->restored = row->replaced;
    return error == 0 && isolate->pool ? refill(isolate) : error;
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct isolate *isolate = bench->state;
    struct isolate_row *row = (struct isolate_row *)(void *)sample;
    bool running = isolate->server > 0 || isolate->slots[0].pid > 0;
    int error = running ? 0 : start_all(isolate);
    /* The main thread of the workers' process is their parent; that of processes is the supervisor. */
    row->parent_alive = (int16_t)(!by_threads(isolate) || is_silent(isolate) ? 1 : 0);
    error = error != 0 ? error : incident(isolate, row);
    if (error != 0) {
        isolate_end_all(isolate);
    }
    return error;
}

static void finish(struct bench *bench) {
    struct isolate *isolate = bench->state;
    isolate_end_all(isolate);
    munmap(isolate->data, (size_t)(isolate->count + 1) * ISOLATE_DATA_BYTES);
    munmap(isolate->guarded, 2 * (size_t)parent_small_page_bytes());
    munmap(isolate, isolate->bytes);
}

static const struct column COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},
    {"known_ns", COLUMN_SINCE_BEFORE, offsetof(struct isolate_row, known), NULL,
     "from the fault until the supervisor knows"},
    {"replaced_ns", COLUMN_SINCE_BEFORE, offsetof(struct isolate_row, replaced), NULL,
     "from the fault until a new worker has done its first job"},
    {"restored_ns", COLUMN_SINCE_BEFORE, offsetof(struct isolate_row, restored), NULL,
     "from the fault until as many workers as before have survived or done a job"},
    {"survivors", COLUMN_SMALL_COUNT, offsetof(struct isolate_row, survivors), NULL,
     "siblings of the failed worker that still do their jobs"},
    {"damaged", COLUMN_SMALL_COUNT, offsetof(struct isolate_row, damaged), NULL,
     "survivors whose data were overwritten"},
    {"parent_alive", COLUMN_SMALL_COUNT, offsetof(struct isolate_row, parent_alive), NULL,
     "whether the workers' parent, the main thread or the supervisor, survived"},
    {"ended_by_signal", COLUMN_SMALL_COUNT, offsetof(struct isolate_row, end_signal), NULL,
     "the signal in the wait status; 0: none, it exited"},
    {"exit_status", COLUMN_SMALL_COUNT, offsetof(struct isolate_row, exit_status), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

static int prepare_worker(struct bench *bench, struct reason *reason) {
    return prepare(bench, false, reason);
}

static int prepare_pool(struct bench *bench, struct reason *reason) {
    return prepare(bench, true, reason);
}

static const char *const WORKER_AXES[] = {AXES_MACHINE, "fault", "task_kind", "siblings", NULL};
static const char *const POOL_AXES[] = {AXES_MACHINE, "fault", "siblings", NULL};

const struct workload isolate_worker = {
    .id = "isolate.worker",
    .family = "isolate",
    .summary = "one of several workers, threads or processes, fails and is replaced by a new one",
    .answers.columns = COLUMNS,
    .axes = WORKER_AXES,
    .prepare = prepare_worker,
    ROWS_OF(isolate_row),
    .launch = launch,
    .finish = finish,
};

const struct workload isolate_pool = {
    .id = "isolate.pool",
    .family = "isolate",
    .summary = "one of several processes fails and is replaced by an idle spare, forked before",
    .answers.columns = COLUMNS,
    .axes = POOL_AXES,
    .prepare = prepare_pool,
    ROWS_OF(isolate_row),
    .launch = launch,
    .finish = finish,
};
