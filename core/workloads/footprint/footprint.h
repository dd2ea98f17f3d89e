/* What idle tasks hold: the machine's or a control group's memory before and after they exist. */
#ifndef CLONOMETER_FOOTPRINT_H
#define CLONOMETER_FOOTPRINT_H

#include <stdint.h>

#include "probe/limits/limits.h"
#include "probe/workload.h"
#include "workloads/cgroup/cgroup.h"

/* Memory in bytes, read at one moment; INT64_MIN where nobody tells. */
struct memory_account {
    int64_t whole;
    int64_t kernel;
    int64_t user;
    int64_t kernel_stack;
    int64_t page_tables;
    int64_t slab;
};

/* What one task of many shows of itself. */
struct task_memory {
    int64_t virtual_bytes;
    int64_t resident_bytes;
    int64_t private_bytes;
};

struct footprint_row {
    struct sample sample;
    uint64_t create_ticks;
    uint64_t reap_ticks;
    struct memory_account grown; /* of all tasks together */
    struct task_memory task;     /* of all tasks together */
};

/* Where memory is read from: the whole machine, or a control group made for it. */
struct account {
    bool of_group;
    bool version_1;
    char group[CGROUP_PATH_BYTES]; /* its directory */
    char home[CGROUP_PATH_BYTES];  /* of the group that takes this process back */
};

/* Settles what the kernel has put off, and reads. 0 or -errno. */
int account_read(const struct account *account, struct memory_account *now);

/* Makes a control group that accounts for memory; version 2 is tried first. `root` is put before every path:
 * "" but in tests. 0, or -errno and nothing is left. */
int account_make_group(const char *root, struct account *account);
/* Moves this process there, so that all that its tasks make is charged to it. 0, or -errno with the reason.
 */
int account_join_group(struct account *account, struct reason *reason);
/* Moves this process back; the group can be removed then. */
void account_leave_group(const struct account *account);

/* What the kernel says of a process. 0 or -errno. */
int task_memory_read(pid_t pid, struct task_memory *memory);

/* What is the same in the table's rows of this family. */
#define FOOTPRINT_FACTS                                                                                      \
    .family = "footprint", ROWS_OF(footprint_row), .rows.operations = footprint_tasks,                       \
    .answers.columns = FOOTPRINT_COLUMNS, .answers.details = FOOTPRINT_DETAILS, .finish = footprint_finish

extern const struct column FOOTPRINT_COLUMNS[];
extern const char *const FOOTPRINT_DETAILS[];

int64_t footprint_tasks(const struct request *request);

/* Memory for what the workload keeps of each task, kept from children. */
void *footprint_list(const struct bench *bench);

/* What memory was before the tasks. 0 or -errno. */
int footprint_before(const struct bench *bench);
/* What it is while they idle, into the row: all of them together. 0 or -errno. */
int footprint_after(const struct bench *bench, struct footprint_row *row);

/* Asks the limits for the tasks, of which each needs that much, and makes the list and the account. 0, or
 * -errno with the reason. */
int footprint_prepare(struct bench *bench, size_t entry_bytes, const struct limits_need *each,
                      struct reason *reason);
void footprint_finish(struct bench *bench);

/* Writes that much of the caller's stack, a byte in each page, and leaves it behind. */
void footprint_touch_stack(int64_t bytes);

#endif
