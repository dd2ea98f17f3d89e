#include "workloads/launch/bare_task.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/clone.h"
#include "workloads/launch/launch.h"

enum { STATE_BYTES = 4096, TLS_BYTES = 8192, STACK_BYTES = 16384 };

int bare_task_prepare(struct bench *bench, struct reason *reason) {
    unsigned char *room = mmap(NULL, STATE_BYTES + TLS_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return reason_set(reason, -errno, "%d bytes of stack cannot be mapped: %s", STACK_BYTES,
                          strerror(errno));
    }
    memset(room, 0, STATE_BYTES + TLS_BYTES + STACK_BYTES);
    struct bare_task *task = (struct bare_task *)room;
    task->bench = bench;
    task->tls = room + STATE_BYTES + TLS_BYTES / 2;
    task->stack = room + STATE_BYTES + TLS_BYTES;
    task->stack_bytes = STACK_BYTES;
    /* x86-64 finds its TLS by a pointer to itself at its start. */
    *(void **)(void *)task->tls = task->tls;
    bench->state = task;
    return 0;
}

/* clock_gettime touches no TLS unless it fails; finding the CPU would. */
static struct stamp read_clock(void) {
#if CLOCK_HAS_TSC
    if (clock_used.kind == CLOCK_KIND_TSC) {
        return clock_read();
    }
#endif
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct stamp){.ticks = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec,
                          .cpu = clone_cpu()};
}

static void spin(int64_t ns) {
    uint64_t ticks = (uint64_t)((unsigned __int128)ns * clock_used.hz / 1000000000U);
    for (uint64_t start = read_clock().ticks; read_clock().ticks - start < ticks;) {
    }
}

void bare_task_run(void *argument) {
    const struct bare_task *task = argument;
    const struct bench *bench = task->bench;
    if (bench->request->stamp_spin_ns > 0) {
        spin(bench->request->stamp_spin_ns);
    }
    if (bench->stamp_child) {
        launch_send(bench, read_clock());
    }
    if (bench->request->child_spin_ns > 0) {
        spin(bench->request->child_spin_ns);
    }
    clone_exit_task();
}
