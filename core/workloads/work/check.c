/* What a program of workers asks of this machine, refused with the numbers where it is too much. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/sys.h"
#include "probe/limits/limits.h"
#include "workloads/work/work.h"

enum {
    MOST_WORKERS = 32000,         /* their number is sent in 16 bits */
    TASK_KERNEL_BYTES = 40 << 10, /* task_struct, kernel stack, first pages of its own stack */
    PROCESS_BYTES = 256 << 10,    /* page tables, copied pages */
    LIBRARY_STACK_BYTES = 8 << 20,
    SMALL_BLOCK_BYTES = 32, /* what an allocator takes for a few bytes, with its own word */
};
/* A CPU divides so often in five to ten minutes. */
static const double MOST_DIVISIONS_A_CPU = 1e11;

/* By halving steps, so that no mathematics library is linked in; good to a thousandth. */
static double square_root(double number) {
    double root = number > 1 ? number : 1;
    while (root * root > number * 1.001) {
        root = (root + number / root) / 2;
    }
    return root;
}

double work_divisions(int64_t numbers, bool at_root) {
    double n = (double)numbers;
    return at_root ? n * square_root(n) / 4 : n * n / 10;
}

int work_allocator_available(int64_t allocator, struct reason *reason) {
#ifdef __GLIBC__
    (void)allocator;
    (void)reason;
    return 0;
#else
    return allocator == ALLOCATOR_LIBRARY
               ? 0
               : reason_set(reason, -EOPNOTSUPP,
                            "this C library has only one heap, and no way to ask for less");
#endif
}

const char *work_folder_parent(const struct request *request) {
    const char *named = getenv("TMPDIR");
    if (request->output_folder[0] != '\0') {
        return request->output_folder;
    }
    return named != NULL && named[0] != '\0' ? named : "/tmp";
}

static int check_sense(const struct request *request, struct reason *reason) {
    bool unlocked = request->stdio_lock == STDIO_UNLOCKED;
    bool streams = request->output == OUTPUT_SHARED_STREAM ||
                   (request->output != OUTPUT_NONE && request->writing == WRITING_BUFFERED);
    if (unlocked && !streams) {
        return reason_set(reason, -EOPNOTSUPP,
                          "stdio_lock=unlocked has no effect where no stdio stream is written: it needs an "
                          "output and writing=buffered");
    }
    if (unlocked && request->output == OUTPUT_SHARED_STREAM && request->task_kind == TASK_KIND_THREAD) {
        return reason_set(reason, -EOPNOTSUPP,
                          "threads that write one stream without its lock corrupt it: with "
                          "output=shared_stream, stdio_lock is locked");
    }
    if (request->writing == WRITING_EACH_NUMBER && request->output == OUTPUT_NONE) {
        return reason_set(reason, -EOPNOTSUPP, "writing=each_number has no effect with output=none");
    }
    if (request->allocator != ALLOCATOR_LIBRARY && request->allocate == ALLOCATE_NONE) {
        return reason_set(reason, -EOPNOTSUPP, "allocator has no effect with allocate=none");
    }
    if (request->allocator == ALLOCATOR_MAPPED && request->allocate == ALLOCATE_LEAKED) {
        return reason_set(reason, -EOPNOTSUPP,
                          "a memory area for each block that leaks is more than a process may have: with "
                          "allocate=leaked, allocator is library or one_heap");
    }
    if (request->result_files == FILES_OVERWRITTEN && request->output == OUTPUT_NONE) {
        return reason_set(reason, -EOPNOTSUPP, "result_files=overwritten has no effect with output=none");
    }
    return 0;
}

/* Room for what all workers write, since they have their files at the same time. */
static int check_disk(const struct request *request, struct reason *reason) {
    const char *parent = work_folder_parent(request);
    struct statvfs disk;
    if (request->output == OUTPUT_NONE) {
        return 0;
    }
    if (statvfs(parent, &disk) != 0) {
        return reason_set(reason, -errno, "output_folder %.200s cannot be used: %s", parent, strerror(errno));
    }
    double needed = (double)request->workers * (double)request->numbers * (double)WORK_LINE_GUESS_BYTES;
    double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (needed > room) {
        return reason_set(reason, -ENOMEM,
                          "the workers write about %.0f MiB, but %.200s has %.0f MiB left; ask for less, or "
                          "name another output_folder",
                          needed / (1 << 20), parent, room / (1 << 20));
    }
    return 0;
}

static int64_t library_stack_bytes(void) {
    struct rlimit stack;
    bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return known ? (int64_t)stack.rlim_cur : LIBRARY_STACK_BYTES;
}

/* What threads leak stays until the probe ends, what processes leak until they do. */
static int64_t leaked_bytes(const struct request *request) {
    int64_t executions =
        request->task_kind == TASK_KIND_THREAD ? request->blocks * (request->samples + request->warmup) : 1;
    return request->allocate == ALLOCATE_LEAKED
               ? executions * request->workers * request->numbers * WORK_LEAKED_BLOCKS * SMALL_BLOCK_BYTES
               : 0;
}

int work_check(const struct request *request, struct reason *reason) {
    int64_t workers = request->workers;
    struct sys_cpus cpus;
    double count = sys_allowed(&cpus) == 0 ? sys_cpu_count(&cpus) : 1;
    double divisions =
        (double)workers * work_divisions(request->numbers, request->cutoff == CUTOFF_SQRT) / count;
    if (workers > MOST_WORKERS) {
        return reason_set(reason, -EAGAIN, "workers=%lld: at most %d", (long long)workers, MOST_WORKERS);
    }
    if (request->numbers > UINT32_MAX || divisions > MOST_DIVISIONS_A_CPU) {
        return reason_set(reason, -EOPNOTSUPP,
                          "%lld workers that each factor %lld numbers divide %.0e times on each CPU, which "
                          "takes hours; at most %.0e: ask for fewer",
                          (long long)workers, (long long)request->numbers, divisions, MOST_DIVISIONS_A_CPU);
    }
    int error = check_sense(request, reason);
    bool threads = request->task_kind == TASK_KIND_THREAD;
    bool own_stacks = request->worker_memory == WORKER_MEMORY_PREFAULTED;
    bool streams = request->output != OUTPUT_NONE && request->output != OUTPUT_SHARED_STREAM;
    int64_t shared = (int64_t)sizeof(struct worker) + WORK_APART_BYTES +
                     (own_stacks ? WORK_STACK_BYTES + WORK_BUFFER_BYTES : 0);
    struct limits_need need = {
        .tasks = workers + 2,
        .memory_bytes =
            workers * (shared + TASK_KERNEL_BYTES + (threads ? 0 : PROCESS_BYTES)) + leaked_bytes(request),
        .address_bytes = workers * (shared + (threads ? library_stack_bytes() : 0)),
        .descriptors = threads && streams ? workers : 0,
        .files = streams ? workers : 0,
    };
    error = error != 0 ? error : limits_check("", &need, reason);
    return error != 0 ? error : check_disk(request, reason);
}
