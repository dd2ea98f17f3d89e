/* The only raw system calls. Every function returns 0 or a value, or -errno; none touches errno, the heap or
 * stdio, so that the measured process stays small. */
#ifndef CLONOMETER_SYS_H
#define CLONOMETER_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The CPU this task runs on. */
uint32_t sys_cpu(void);

/* Reads a small file whole into `buffer` and ends it with NUL; what does not fit is cut. Its length or
 * -errno. */
long sys_read_file(const char *path, char *buffer, size_t capacity);
/* The same of a path from an open folder. */
long sys_read_file_at(int folder, const char *path, char *buffer, size_t capacity);

/* Writes all of `data`, going on after EINTR and short writes. 0 or -errno. */
int sys_write_all(int fd, const void *data, size_t length);

/* Binds this task to one CPU. 0 or -errno. */
int sys_pin(int cpu);

enum { SYS_MAX_CPUS = 4096 };

/* A CPU mask as the kernel keeps it. */
struct sys_cpus {
    uint64_t words[SYS_MAX_CPUS / 64];
};

/* This task's affinity. 0 or -errno. */
int sys_allowed(struct sys_cpus *mask);
int sys_allow(const struct sys_cpus *mask);
int sys_cpu_in(const struct sys_cpus *mask, int cpu);
int sys_cpu_count(const struct sys_cpus *mask);
/* The highest CPU in the mask, or -1. */
int sys_highest_cpu(const struct sys_cpus *mask);

/* A file in memory that has no name, and that exec'd programs inherit: by memfd_create, or on /dev/shm where
 * that is refused (filters of old container runtimes do not know it). A descriptor or memfd_create's -errno.
 */
int sys_memory_file(const char *name, size_t length_bytes);

/* The file that this program was started from, for exec: /proc/self/exe, or where /proc is hidden the name
 * that it was started by. */
const char *sys_own_program(void);

/* Sleeps while the word has the expected value; may wake for no reason. `shared`: the word lies in memory
 * that other processes share. 0, or -EAGAIN if it had another value. */
int sys_futex_wait(uint32_t *word, uint32_t expected, int shared);
/* The same in shared memory, at most this long: -ETIMEDOUT then. */
int sys_futex_wait_for(uint32_t *word, uint32_t expected, int64_t timeout_ns);
/* Wakes at most `tasks` that sleep on the word. How many, or -errno. */
int sys_futex_wake(uint32_t *word, int tasks, int shared);

/* The kernel's number of this task: of a thread, not of its process. */
pid_t sys_task(void);

/* clock_gettime as a system call, never through the vDSO. 0 or -errno. */
int sys_clock_gettime(clockid_t id, struct timespec *now);

/* The scheduling class of this task, or -errno. musl's own functions for this refuse. */
int sys_scheduler(void);
int sys_set_scheduler(int policy, int priority);

/* Closes all descriptors from `first` to `last`. 0 or -errno. */
int sys_close_range(unsigned first, unsigned last);

/* How many entries a folder has, "." and ".." and the descriptor it is read by left out. Or -errno. */
int64_t sys_count_entries(const char *path, char *scratch, size_t capacity);

/* Waits for the child, going on after EINTR. 0 and its wait status, or -errno. */
int sys_wait(pid_t pid, int *status);

/* Sleeps so long, whatever signals arrive. */
void sys_sleep(int64_t pause_ns);

#endif
