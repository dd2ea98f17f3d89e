#include "probe/workload.h"

#include <string.h>

extern const struct workload launch_none, launch_stamp, clock_used_workload;
extern const struct workload launch_fork, launch_vfork, launch_pthread;
extern const struct workload launch_bare_fork, launch_clone, launch_clone3_plain, launch_clone3_pidfd;
extern const struct workload launch_clone3_into_cgroup, launch_raw_thread, launch_c11_thread;
extern const struct workload flags_none, flags_files, flags_fs, flags_sysvsem, flags_vm, flags_sighand;
extern const struct workload flags_parent_settid, flags_child_cleartid, flags_thread, flags_settls;
extern const struct workload namespaces_none, namespaces_uts, namespaces_ipc, namespaces_user, namespaces_pid;
extern const struct workload namespaces_mnt, namespaces_net, namespaces_cgroup, namespaces_time,
    namespaces_all;
extern const struct workload launch_fork_exec, launch_vfork_exec, launch_posix_spawn;
extern const struct workload program_cpuid, program_steps;
extern const struct workload clock_realtime, clock_monotonic, clock_monotonic_raw, clock_boottime;
extern const struct workload clock_realtime_coarse, clock_process_cputime, clock_thread_cputime;
extern const struct workload clock_rdtsc, clock_rdtscp, clock_first_pair, clock_across_cpus;
extern const struct workload wake_pipe, wake_futex, wake_thread_futex, wake_thread_condvar;
extern const struct workload switch_pipe, switch_eventfd, switch_futex, switch_yield, switch_signal,
    switch_unix_socket;
extern const struct workload ipc_shared_memory, ipc_pipe, ipc_vmsplice, ipc_unix_socket, ipc_posix_queue,
    ipc_process_vm_readv;
extern const struct workload memcpy_private, connection_tcp;
extern const struct workload contend_fault, contend_mmap, contend_malloc, contend_open, contend_counter;
extern const struct workload work_factor;
extern const struct workload isolate_worker, isolate_pool;
extern const struct workload serve_inline, serve_fork, serve_thread, serve_spawn, serve_prefork,
    serve_thread_pool, serve_event, serve_event_pool, serve_pass_fd;
extern const struct workload teardown_exit, teardown_kill, teardown_zombies;
extern const struct workload footprint_process, footprint_thread;
extern const struct workload cow_parent, cow_child, cow_fresh, cow_stall;

const struct workload *const WORKLOADS[] = {
    &launch_fork,
    &launch_bare_fork,
    &launch_vfork,
    &launch_clone,
    &launch_clone3_plain,
    &launch_clone3_pidfd,
    &launch_clone3_into_cgroup,
    &launch_pthread,
    &launch_c11_thread,
    &launch_raw_thread,
    &launch_fork_exec,
    &launch_vfork_exec,
    &launch_posix_spawn,
    &flags_none,
    &flags_files,
    &flags_fs,
    &flags_sysvsem,
    &flags_vm,
    &flags_sighand,
    &flags_parent_settid,
    &flags_child_cleartid,
    &flags_thread,
    &flags_settls,
    &namespaces_none,
    &namespaces_uts,
    &namespaces_ipc,
    &namespaces_user,
    &namespaces_pid,
    &namespaces_mnt,
    &namespaces_net,
    &namespaces_cgroup,
    &namespaces_time,
    &namespaces_all,
    &launch_none,
    &launch_stamp,
    &clock_used_workload,
    &program_cpuid,
    &program_steps,
    &clock_realtime,
    &clock_monotonic,
    &clock_monotonic_raw,
    &clock_boottime,
    &clock_realtime_coarse,
    &clock_process_cputime,
    &clock_thread_cputime,
    &clock_rdtsc,
    &clock_rdtscp,
    &clock_first_pair,
    &clock_across_cpus,
    &wake_pipe,
    &wake_futex,
    &wake_thread_futex,
    &wake_thread_condvar,
    &switch_pipe,
    &switch_unix_socket,
    &switch_eventfd,
    &switch_futex,
    &switch_signal,
    &switch_yield,
    &ipc_shared_memory,
    &ipc_pipe,
    &ipc_vmsplice,
    &ipc_unix_socket,
    &ipc_posix_queue,
    &ipc_process_vm_readv,
    &memcpy_private,
    &connection_tcp,
    &teardown_exit,
    &teardown_kill,
    &teardown_zombies,
    &cow_parent,
    &cow_child,
    &cow_fresh,
    &cow_stall,
    &contend_fault,
    &contend_mmap,
    &contend_malloc,
    &contend_open,
    &contend_counter,
    &footprint_process,
    &footprint_thread,
    &work_factor,
    &isolate_worker,
    &isolate_pool,
    &serve_inline,
    &serve_fork,
    &serve_thread,
    &serve_spawn,
    &serve_prefork,
    &serve_thread_pool,
    &serve_event,
    &serve_event_pool,
    &serve_pass_fd,
    NULL,
};

const struct workload *workload_find(const char *id) {
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        if (strcmp(WORKLOADS[i]->id, id) == 0) {
            return WORKLOADS[i];
        }
    }
    return NULL;
}

bool workload_has_axis(const struct workload *workload, const char *axis) {
    for (size_t i = 0; workload->axes[i] != NULL; i++) {
        if (strcmp(workload->axes[i], axis) == 0) {
            return true;
        }
    }
    return false;
}
