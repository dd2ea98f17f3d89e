#include "workloads/cow/cow.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/limits/limits.h"
#include "probe/parent/parts.h"

/* Beyond this it is a mistake, and below no sum overflows. */
static const int64_t MOST_BYTES = (int64_t)1 << 50;

const struct column COW_COLUMNS[] = {
    {"write_each_ns", COLUMN_EACH, offsetof(struct cow_row, times.first_ticks), NULL,
     "the first write to each page"},
    {"again_each_ns", COLUMN_EACH, offsetof(struct cow_row, times.again_ticks), NULL,
     "writing to each page once more, without a fault"},
    {"faults", COLUMN_COUNT, offsetof(struct cow_row, times.faults), NULL,
     "page faults of all first writes together"},
    {"split_pages", COLUMN_COUNT, offsetof(struct cow_row, times.split_pages), NULL,
     "huge pages that the first writes split into small ones; the others were kept whole"},
    {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
const char *const COW_DETAILS[] = {"faults", "split_pages", NULL};
const char *const COW_AXES[] = {"linkage",    "placement",     "page_kind", "written_bytes",
                                "write_step", "other_process", NULL};

static size_t step_bytes(const struct request *request) {
    return (size_t)(request->write_step == WRITE_STEP_PAGE ? parent_page_bytes(request->page_kind)
                                                           : parent_small_page_bytes());
}

int64_t cow_writes(const struct request *request) {
    int64_t step = (int64_t)step_bytes(request);
    return step > 0 ? (request->written_bytes + step - 1) / step : 0;
}

static void write_all(unsigned char *memory, size_t length, size_t step, unsigned char value) {
    for (size_t at = 0; at < length; at += step) {
        ((volatile unsigned char *)memory)[at] = value;
    }
}

static int64_t faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

int cow_memory_make(const struct request *request, bool touched, unsigned char **memory) {
    size_t length = (size_t)request->written_bytes;
    int64_t page = parent_page_bytes(request->page_kind);
    *memory = NULL;
    int error = parent_map(request->page_kind, length, -1, memory);
    if (error == 0 && touched) {
        int64_t before = faults();
        write_all(*memory, length, (size_t)parent_small_page_bytes(), 1);
        int64_t taken = faults() - before;
        /* A few more: page tables, and whatever else this process has not touched yet. */
        bool small = request->page_kind == PAGE_KIND_THP && taken > request->written_bytes / page + 8;
        error = small ? -ENOMEM : 0;
        write_all(*memory, length, (size_t)parent_small_page_bytes(), 2);
    }
    if (error != 0) {
        cow_memory_drop(request, *memory);
        *memory = NULL;
    }
    return error;
}

void cow_memory_drop(const struct request *request, unsigned char *memory) {
    if (memory != NULL) {
        munmap(memory, (size_t)request->written_bytes);
    }
}

static __attribute__((noinline)) void timed(unsigned char *memory, size_t length, size_t step,
                                            struct cow_times *times) {
    int64_t before = faults();
    struct stamp start = clock_read();
    write_all(memory, length, step, 3);
    struct stamp first = clock_read();
    write_all(memory, length, step, 4);
    struct stamp again = clock_read();
    times->faults = faults() - before;
    times->first_ticks = first.ticks - start.ticks;
    times->again_ticks = again.ticks - first.ticks;
    times->cpu = (int32_t)first.cpu;
}

/* Faults alone do not tell: a processor may keep read-only translations of parts of a huge page, read ahead
 * of the first write, which fault once more each when the page has long been writable as a whole (Intel's
 * manual, volume 3, section 4.10.2.3; arch/x86/mm/pgtable.c, pmdp_set_access_flags). The kernel's own account
 * does. */
static int64_t count_split(const struct request *request, const unsigned char *memory) {
    struct parent_region region;
    if (request->page_kind != PAGE_KIND_THP ||
        parent_region_read(memory, (size_t)request->written_bytes, &region) != 0) {
        return INT64_MIN;
    }
    return (request->written_bytes - region.huge_bytes) / parent_page_bytes(request->page_kind);
}

void cow_write(const struct request *request, unsigned char *memory, struct cow_times *times) {
    /* A forked child has yet to fault in this code, its stack, and the vDSO's page. */
    unsigned char warm_up[2] = {0, 0};
    struct cow_times taken = {.faults = 0};
    timed(warm_up, sizeof warm_up, 1, &taken);
    timed(memory, (size_t)request->written_bytes, step_bytes(request), &taken);
    taken.split_pages = count_split(request, memory);
    *times = taken;
}

int cow_store(const struct cow_times *times, struct sample *sample) {
    ((struct cow_row *)(void *)sample)->times = *times;
    sample->cpu_before = times->cpu;
    return -times->error;
}

void cow_sleep(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(1);
    }
    for (;;) {
        pause();
    }
}

int cow_kill(pid_t pid) {
    int status = 0;
    kill(pid, SIGKILL);
    return sys_wait(pid, &status);
}

static int check_sizes(const struct request *request, struct reason *reason) {
    int64_t page = parent_page_bytes(request->page_kind);
    if (request->page_kind != PAGE_KIND_4K && request->page_kind != PAGE_KIND_THP) {
        return reason_set(reason, -EOPNOTSUPP,
                          "copying on write is measured with page_kind=4k and page_kind=thp only");
    }
    int error = parent_page_kind_available(request->page_kind, reason);
    if (error != 0) {
        return error;
    }
    if (request->written_bytes < 1 || request->written_bytes > MOST_BYTES || page < 1 ||
        request->written_bytes % page != 0) {
        return reason_set(reason, -EOPNOTSUPP,
                          "written_bytes=%lld is not a multiple of this kind's page of %lld bytes",
                          (long long)request->written_bytes, (long long)page);
    }
    return 0;
}

int cow_prepare(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    int error = check_sizes(request, reason);
    if (error != 0) {
        return error;
    }
    struct limits_need need = {.memory_bytes = 2 * request->written_bytes,
                               .commit_bytes = request->written_bytes,
                               .address_bytes = request->written_bytes,
                               .tasks = 3};
    error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    /* Once for the reason; later failures are counted. */
    unsigned char *memory = NULL;
    error = cow_memory_make(request, true, &memory);
    if (error != 0) {
        return reason_set(reason, error, "%lld bytes cannot be allocated in pages of %lld bytes: %s",
                          (long long)request->written_bytes, (long long)parent_page_bytes(request->page_kind),
                          strerror(-error));
    }
    cow_memory_drop(request, memory);
    return 0;
}
