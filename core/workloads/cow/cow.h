/* What fork postpones: the first write to a page that parent and child share. */
#ifndef CLONOMETER_COW_H
#define CLONOMETER_COW_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/workload.h"
#include "workloads/gate/gate.h"

/* What writing page after page took. */
struct cow_times {
    uint64_t first_ticks; /* all writes, the first time */
    uint64_t again_ticks; /* the same writes once more */
    int64_t faults;       /* page faults that the first writes took */
    int64_t split_pages;  /* huge pages that are now mapped as small ones; INT64_MIN: none were huge */
    int32_t cpu;
    int32_t error; /* an errno of the process that writes, which cannot say it otherwise */
};

struct cow_row {
    struct sample sample;
    struct cow_times times;
};

/* The rest of the stamp page: memory that processes share and that a fork leaves writable. */
struct cow_page {
    struct stamps stamps;
    struct cow_times times;
    pid_t writer; /* the process that writes, where that is no child of the probe's */
};
_Static_assert(sizeof(struct cow_page) <= STAMP_PAGE_BYTES, "it lies in the stamp page");

static inline struct cow_page *cow_page(const struct bench *bench) {
    return (struct cow_page *)(void *)bench->stamps;
}

/* What is the same in the table's rows of this family. */
#define COW_FACTS                                                                                            \
    .family = "cow", ROWS_OF(cow_row), .rows.operations = cow_writes, .answers.columns = COW_COLUMNS,        \
    .answers.details = COW_DETAILS

extern const struct column COW_COLUMNS[];
extern const char *const COW_AXES[];
extern const char *const COW_DETAILS[];

/* Refuses page kinds that are not copied on write, asks the limits, and sees that this machine gives such
 * memory. 0, or -errno with the reason. */
int cow_prepare(struct bench *bench, struct reason *reason);

/* How many bytes are written. */
int64_t cow_writes(const struct request *request);

/* Maps the memory; `touched`: written twice, since in a virtual machine the first touch of host memory costs
 * more. 0, or -errno; -ENOMEM if huge pages were asked for and small ones came. */
int cow_memory_make(const struct request *request, bool touched, unsigned char **memory);
void cow_memory_drop(const struct request *request, unsigned char *memory);

/* Writes it all twice and says what that took. Its own code and stack are faulted in before. */
void cow_write(const struct request *request, unsigned char *memory, struct cow_times *times);

/* The times as a sample. 0, or -errno of the process that wrote. */
int cow_store(const struct cow_times *times, struct sample *sample);

/* In a child that lives until it is killed: never outlives its parent. */
__attribute__((noreturn)) void cow_sleep(pid_t parent);

/* Kills that child and reaps it. 0 or -errno. */
int cow_kill(pid_t pid);

#endif
