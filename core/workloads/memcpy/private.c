/* memcpy.private
 * Timed: one memcpy() of copy_bytes from one private area to another, by the C library's own choice of
 * instructions. It is what fork does not do: a fork beside it shares the pages instead. Outside: both areas
 * are written (twice: in a virtual machine the first touch costs more) before anything is timed, in pages of
 * 4 KiB as the parent's memory has by default.
 * Bias: the same areas are copied again and again, so that what fits into a cache is copied from there, as in
 * the published comparisons. Source: memcpy(3); bendersky-2018, whose loop copies 64 KiB; madvise(2).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "probe/limits/limits.h"
#include "probe/workload.h"

/* bench->state is the source; the destination follows it. */
static int launch(const struct bench *bench, struct sample *sample) {
    size_t length = (size_t)bench->request->copy_bytes;
    unsigned char *source = bench->state;
    struct stamp start = clock_read();
    memcpy(source + length, source, length);
    /* The copy is never read: without this the compiler might leave it out. */
    __asm__ volatile("" ::"r"(source) : "memory");
    ((struct timed_row *)(void *)sample)->ticks = clock_read().ticks - start.ticks;
    sample->cpu_before = (int32_t)start.cpu;
    return 0;
}

static int prepare(struct bench *bench, struct reason *reason) {
    int64_t length = bench->request->copy_bytes;
    if (length < 1 || length > INT64_MAX / 4) {
        return reason_set(reason, -EOPNOTSUPP, "copy_bytes=%lld: there is nothing to copy",
                          (long long)length);
    }
    struct limits_need need = {.memory_bytes = 2 * length, .tasks = 1};
    int error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    void *memory =
        mmap(NULL, (size_t)(2 * length), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* EINVAL: a kernel without huge pages, which is what is asked for. */
    if (memory == MAP_FAILED ||
        (madvise(memory, (size_t)(2 * length), MADV_NOHUGEPAGE) != 0 && errno != EINVAL)) {
        return reason_set(reason, -errno, "twice %lld bytes cannot be mapped: %s", (long long)length,
                          strerror(errno));
    }
    memset(memory, 1, (size_t)(2 * length));
    memset(memory, 2, (size_t)(2 * length));
    bench->state = memory;
    return 0;
}

static const struct column COLUMNS[] = {
    {"copy_ns", COLUMN_DURATION, offsetof(struct timed_row, ticks), NULL, "one copy"},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, "copy_bytes", NULL};

const struct workload memcpy_private = {
    .id = "memcpy.private",
    .family = "memory",
    .summary = "one memcpy() between two areas of private memory that were written before",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .prepare = prepare,
    ROWS_OF(timed_row),
    .launch = launch,
};
