/* launch.raw_thread
 * Timed: from before the system call clone with the flags of a thread until it returns, until the thread's
 * first own instruction, until the kernel has cleared its id (CLONE_CHILD_CLEARTID) and a futex has woken us,
 * which is what pthread_join waits for. Outside: the stack, mapped once and always the same. Bias: the thread
 * has no TLS, no entry in the C library's lists and no signal mask of its own, so it can do nothing but
 * stamp; the difference to launch.pthread is what the library does around the call. As there, it may still be
 * leaving the kernel when it counts as reaped. Source: clone(2), set_tid_address(2).
 */
#include "base/clone.h"
#include "workloads/launch/bare_task.h"
#include "workloads/launch/launch.h"

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    struct bare_task *task = bench->state;
    launch_before(sample);
    long tid =
        clone_start_thread(TASK_RAW_THREAD, task->stack + task->stack_bytes, &task->tid, bare_task_run, task);
    launch_call_returned(bench, sample);
    if (tid < 0) {
        return (int)tid;
    }
    clone_wait_cleared(&task->tid);
    launch_reaped(sample);
    return 0;
}

static const struct clone_facts FLAGS = {.flags = TASK_RAW_THREAD, .exact = true, .reaped_by = "futex"};

const struct workload launch_raw_thread = {
    .id = "launch.raw_thread",
    LAUNCH_FACTS,
    .summary = "the system call clone with a thread's flags, own stack, no TLS; futex wait for its end",
    .axes = LAUNCH_AXES,
    .task.facts = &FLAGS,
    .prepare = bare_task_prepare,
    .launch = launch,
};
