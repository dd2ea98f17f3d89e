#include "workloads/teardown/child.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/limits/limits.h"

const struct column TEARDOWN_COLUMNS[] = {
    {"teardown_ns", COLUMN_DURATION, offsetof(struct teardown_row, teardown), NULL,
     "from the child's last stamp, or from before the kill, until wait has returned"},
    {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},
    {"cpu_after", COLUMN_CPU, offsetof(struct sample, cpu_after), NULL, NULL},
    {"cpu_child", COLUMN_CPU, offsetof(struct sample, cpu_child), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const TEARDOWN_AXES[] = {AXES_MACHINE, "child_bytes", NULL};

int child_prepare(struct bench *bench, struct reason *reason) {
    struct limits_need need = {.memory_bytes = bench->request->child_bytes, .tasks = 2};
    return limits_check("", &need, reason);
}

void child_grow(const struct bench *bench) {
    size_t length = (size_t)bench->request->child_bytes;
    bench->stamps->task_cpu = (int32_t)sys_cpu();
    if (length == 0) {
        return;
    }
    unsigned char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* EINVAL: a kernel without huge pages, which is what is asked for. */
    if (memory == MAP_FAILED || (madvise(memory, length, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)) {
        bench->stamps->child_error = errno;
        _exit(1);
    }
    size_t step = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < length; at += step) {
        ((volatile unsigned char *)memory)[at] = 1;
    }
}
