#include "workloads/footprint/footprint.h"

#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workloads/launch/remover.h"

enum {
    MOST_TASKS = 1000000,
    SPARE_STACK_BYTES = 64 << 10 /* of a stack, what is not to be touched: its first frames, and the guard */
};

struct footprint {
    struct account account;
    struct remover remover;
    struct memory_account before;
    void *list;
};

#define IN_ROW(field) offsetof(struct footprint_row, field)

const struct column FOOTPRINT_COLUMNS[] = {
    {"whole_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.whole), NULL,
     "total memory per task: what free memory, buffers and page cache lose, or what its group is charged"},
    {"kernel_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.kernel), NULL,
     "kernel memory per task: stacks, page tables, slab and per-CPU memory"},
    {"user_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.user), NULL, "the task's own written pages"},
    {"kernel_stack_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.kernel_stack), NULL, "kernel stack"},
    {"page_tables_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.page_tables), NULL, "page tables"},
    {"slab_each_bytes", COLUMN_BYTES_EACH, IN_ROW(grown.slab), NULL,
     "slab: task_struct, mm_struct, VMAs, signals, files"},
    {"virtual_each_bytes", COLUMN_BYTES_EACH, IN_ROW(task.virtual_bytes), NULL,
     "address space per task: all of it for a process, what it adds for a thread"},
    {"resident_each_bytes", COLUMN_BYTES_EACH, IN_ROW(task.resident_bytes), NULL,
     "resident pages per task; shared pages count for each"},
    {"private_each_bytes", COLUMN_BYTES_EACH, IN_ROW(task.private_bytes), NULL,
     "pages per task that no other task maps"},
    {"create_each_ns", COLUMN_EACH, IN_ROW(create_ticks), NULL,
     "from before the first launch until all tasks have run, per task"},
    {"reap_each_ns", COLUMN_EACH, IN_ROW(reap_ticks), NULL,
     "from before the first is ended until all are reaped, per task"},
    {"cpu_before", COLUMN_CPU, IN_ROW(sample.cpu_before), NULL, NULL},
    {"errno", COLUMN_ERRNO, IN_ROW(sample.error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const FOOTPRINT_DETAILS[] = {"kernel_stack_each_bytes", "page_tables_each_bytes",
                                         "slab_each_bytes", "private_each_bytes", NULL};

int64_t footprint_tasks(const struct request *request) {
    return request->tasks;
}

void *footprint_list(const struct bench *bench) {
    return ((struct footprint *)bench->state)->list;
}

int footprint_before(const struct bench *bench) {
    struct footprint *footprint = bench->state;
    return account_read(&footprint->account, &footprint->before);
}

static int64_t grown(int64_t before, int64_t after) {
    return before == INT64_MIN || after == INT64_MIN ? INT64_MIN : after - before;
}

int footprint_after(const struct bench *bench, struct footprint_row *row) {
    const struct footprint *footprint = bench->state;
    const struct memory_account *before = &footprint->before;
    struct memory_account now;
    int error = account_read(&footprint->account, &now);
    if (error != 0) {
        return error;
    }
    row->grown = (struct memory_account){.whole = grown(before->whole, now.whole),
                                         .kernel = grown(before->kernel, now.kernel),
                                         .user = grown(before->user, now.user),
                                         .kernel_stack = grown(before->kernel_stack, now.kernel_stack),
                                         .page_tables = grown(before->page_tables, now.page_tables),
                                         .slab = grown(before->slab, now.slab)};
    return 0;
}

/* Stacks grow downwards: each deeper page is the next to be written. */
void footprint_touch_stack(int64_t bytes) {
    if (bytes <= 0) {
        return;
    }
    volatile unsigned char *area = alloca((size_t)bytes);
    size_t step = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = (size_t)bytes; at > 0; at -= at < step ? at : step) {
        area[at - 1] = 1;
    }
}

static int check_request(const struct request *request, struct reason *reason) {
    struct rlimit stack;
    if (request->tasks > MOST_TASKS) {
        return reason_set(reason, -EAGAIN, "tasks=%lld: at most %d", (long long)request->tasks, MOST_TASKS);
    }
    int64_t most = request->stack_bytes;
    if (most == 0) {
        bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
        most = known ? (int64_t)stack.rlim_cur : (int64_t)2 << 20;
    }
    if (request->touched_bytes > 0 && request->touched_bytes > most - SPARE_STACK_BYTES) {
        return reason_set(reason, -EOPNOTSUPP,
                          "touched_bytes=%lld does not fit into a stack of %lld bytes beside %d of its own; "
                          "raise stack_bytes, or ulimit -s",
                          (long long)request->touched_bytes, (long long)most, SPARE_STACK_BYTES);
    }
    return 0;
}

static int ask_limits(const struct request *request, const struct limits_need *each, struct reason *reason) {
    int64_t tasks = request->tasks;
    struct limits_need need = {.memory_bytes = tasks * (each->memory_bytes + request->touched_bytes),
                               .tasks = tasks + 2,
                               .address_bytes = tasks * each->address_bytes,
                               .areas = tasks * each->areas};
    return limits_check("", &need, reason);
}

static int join_group(struct footprint *footprint, struct reason *reason) {
    int error = account_make_group("", &footprint->account);
    if (error != 0) {
        return reason_set(reason, error,
                          "no control group that accounts for memory can be created here: %s; it needs write "
                          "access to /sys/fs/cgroup and, in version 2, the memory controller",
                          strerror(-error));
    }
    error = remover_start(&footprint->remover, footprint->account.group);
    if (error != 0) {
        return reason_set(reason, error, "the remover of a control group cannot be started: %s",
                          strerror(-error));
    }
    error = account_join_group(&footprint->account, reason);
    if (error != 0) {
        (void)remover_end(&footprint->remover, footprint->account.group);
    }
    return error;
}

int footprint_prepare(struct bench *bench, size_t entry_bytes, const struct limits_need *each,
                      struct reason *reason) {
    const struct request *request = bench->request;
    int error = check_request(request, reason);
    error = error != 0 ? error : ask_limits(request, each, reason);
    if (error != 0) {
        return error;
    }
    size_t length = sizeof(struct footprint) + (size_t)request->tasks * entry_bytes;
    void *memory =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, length, MADV_DONTFORK) != 0) {
        return reason_set(reason, -errno, "no memory for %lld numbers: %s", (long long)request->tasks,
                          strerror(errno));
    }
    /* Not static: see struct program. */
    struct footprint *footprint = memory;
    footprint->list = footprint + 1;
    bench->state = footprint;
    if (request->accounting == ACCOUNTING_CGROUP) {
        footprint->account.of_group = true;
        return join_group(footprint, reason);
    }
    return 0;
}

void footprint_finish(struct bench *bench) {
    struct footprint *footprint = bench->state;
    if (!footprint->account.of_group) {
        return;
    }
    account_leave_group(&footprint->account);
    (void)remover_end(&footprint->remover, footprint->account.group);
}
