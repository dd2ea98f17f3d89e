/* flags.*
 * Timed: from before the system call clone3 until it returns, until the new task's first own instruction,
 * until it is reaped. Outside: filling the arguments; the stack, mapped and written once. Each rung has one
 * flag more than the one below. Below flags.vm the task has a copy of the memory and sends its stamp by a
 * write, as every fork here does; from flags.vm on the memory is shared, so that it has a stack of its own
 * and stores its stamp straight: that difference, part of reaped alone, belongs to that step. From
 * flags.thread on the kernel sends no SIGCHLD (it refuses one) and nobody can wait: reaped is when the kernel
 * has cleared the task's id, which comes before the end that wait waits for, so that this step is stated for
 * the earlier stages only. Bias: the task stamps and leaves by system calls alone, whatever it shares.
 * flags.child_cleartid without a shared memory would do nothing, which is why it stands above flags.vm.
 * Source: clone(2), kernel/fork.c; S21 of sysel-2020 against B12 of bendersky-2018.
 */
#include <signal.h>

#include "base/clone.h"
#include "workloads/launch/bare_task.h"
#include "workloads/launch/clone3.h"
#include "workloads/launch/launch.h"

static uint64_t address(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

WORKLOAD_HOT static int launch(const struct bench *bench, struct sample *sample) {
    struct bare_task *task = bench->state;
    uint64_t flags = bench->request->workload->task.facts->flags;
    bool thread = (flags & TASK_THREAD) != 0;
    bool shared = (flags & TASK_VM) != 0;
    struct clone_args_v2 args = {
        .flags = flags,
        .exit_signal = thread ? 0 : SIGCHLD,
        .stack = shared ? address(task->stack) : 0,
        .stack_size = shared ? task->stack_bytes : 0,
        .parent_tid = (flags & TASK_PARENT_SETTID) != 0 ? address(&task->tid) : 0,
        .child_tid = (flags & TASK_CHILD_CLEARTID) != 0 ? address(&task->tid) : 0,
        .tls = (flags & TASK_SETTLS) != 0 ? address(task->tls) : 0,
    };
    launch_before(sample);
    long tid = clone3_start(&args, bare_task_run, task);
    launch_call_returned(bench, sample);
    if (tid < 0) {
        return (int)tid;
    }
    if (!thread) {
        return launch_reap(bench, (pid_t)tid, sample);
    }
    clone_wait_cleared(&task->tid);
    launch_reaped(sample);
    return 0;
}

#define RUNG(name, rung_flags, reaping, below, text)                                                         \
    static const struct clone_facts name##_facts = {                                                         \
        .flags = (rung_flags), .exact = true, .reaped_by = (reaping), .step_from = (below)};                 \
    const struct workload flags_##name = {                                                                   \
        .id = "flags." #name,                                                                                \
        .summary = "clone3 " text,                                                                           \
        .axes = LAUNCH_AXES,                                                                                 \
        LAUNCH_FACTS,                                                                                        \
        .task.copies_memory = ((rung_flags) & TASK_VM) == 0,                                                 \
        .task.facts = &name##_facts,                                                                         \
        .needs.available = launch_clone3_available,                                                          \
        .prepare = bare_task_prepare,                                                                        \
        .launch = launch,                                                                                    \
    }

#define UP_TO_FS (TASK_FILES | TASK_FS)
#define UP_TO_VM (UP_TO_FS | TASK_SYSVSEM | TASK_VM)
#define UP_TO_SETTID (UP_TO_VM | TASK_SIGHAND | TASK_PARENT_SETTID)

RUNG(none, 0, "wait", NULL, "with no flag: a fork without the C library");
RUNG(files, TASK_FILES, "wait", "flags.none", "and the table of open files is shared");
RUNG(fs, UP_TO_FS, "wait", "flags.files", "and root, working directory and umask are shared");
RUNG(sysvsem, UP_TO_FS | TASK_SYSVSEM, "wait", "flags.fs",
     "and the undo list of System V semaphores is shared");
RUNG(vm, UP_TO_VM, "wait", "flags.sysvsem", "and the memory is shared (on a stack of its own)");
RUNG(sighand, UP_TO_VM | TASK_SIGHAND, "wait", "flags.vm", "and the signal handlers are shared");
RUNG(parent_settid, UP_TO_SETTID, "wait", "flags.sighand", "and the kernel stores the task's id");
RUNG(child_cleartid, UP_TO_SETTID | TASK_CHILD_CLEARTID, "wait", "flags.parent_settid",
     "and the kernel clears the task's id at its end and wakes a futex");
RUNG(thread, TASK_RAW_THREAD, "futex", "flags.child_cleartid",
     "and the thread group is shared: a thread, reaped by futex");
RUNG(settls, TASK_PTHREAD, "futex", "flags.thread", "and TLS of its own: all flags of pthread_create");
