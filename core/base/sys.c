#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint32_t sys_cpu(void) {
    int cpu = sched_getcpu();
    return cpu < 0 ? 0 : (uint32_t)cpu;
}

long sys_read_file(const char *path, char *buffer, size_t capacity) {
    return sys_read_file_at(AT_FDCWD, path, buffer, capacity);
}

long sys_read_file_at(int folder, const char *path, char *buffer, size_t capacity) {
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    size_t filled = 0;
    long error = 0;
    while (filled + 1 < capacity) {
        ssize_t got = read(fd, buffer + filled, capacity - 1 - filled);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            error = got < 0 ? -errno : 0;
            break;
        }
        filled += (size_t)got;
    }
    close(fd);
    buffer[filled] = '\0';
    return error != 0 ? error : (long)filled;
}

int sys_write_all(int fd, const void *data, size_t length) {
    const char *at = data;
    while (length > 0) {
        ssize_t put = write(fd, at, length);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return -errno;
        }
        at += put;
        length -= (size_t)put;
    }
    return 0;
}

int sys_allowed(struct sys_cpus *mask) {
    memset(mask, 0, sizeof *mask);
    return syscall(SYS_sched_getaffinity, 0, sizeof mask->words, mask->words) < 0 ? -errno : 0;
}

int sys_allow(const struct sys_cpus *mask) {
    return syscall(SYS_sched_setaffinity, 0, sizeof mask->words, mask->words) < 0 ? -errno : 0;
}

int sys_cpu_in(const struct sys_cpus *mask, int cpu) {
    return cpu >= 0 && cpu < SYS_MAX_CPUS && ((mask->words[cpu / 64] >> (cpu % 64)) & 1U) != 0;
}

int sys_cpu_count(const struct sys_cpus *mask) {
    int count = 0;
    for (size_t i = 0; i < sizeof mask->words / sizeof mask->words[0]; i++) {
        count += __builtin_popcountll(mask->words[i]);
    }
    return count;
}

int sys_highest_cpu(const struct sys_cpus *mask) {
    for (int cpu = SYS_MAX_CPUS - 1; cpu >= 0; cpu--) {
        if (sys_cpu_in(mask, cpu)) {
            return cpu;
        }
    }
    return -1;
}

int sys_pin(int cpu) {
    if (cpu < 0 || cpu >= SYS_MAX_CPUS) {
        return -EINVAL;
    }
    struct sys_cpus mask;
    memset(&mask, 0, sizeof mask);
    mask.words[cpu / 64] = (uint64_t)1 << (cpu % 64);
    return sys_allow(&mask);
}

int sys_memory_file(const char *name, size_t length_bytes) {
    /* Neither is closed by an exec: the programs that exec launches write their stamp through this
     * descriptor. */
    int fd = (int)syscall(SYS_memfd_create, name, 0U);
    int refused = -errno;
    bool in_shm = fd < 0;
    if (in_shm) {
        fd = open("/dev/shm", O_RDWR | O_TMPFILE, S_IRUSR | S_IWUSR);
    }
    if (fd < 0) {
        return refused;
    }
    /* A small /dev/shm must say so now, and not by a SIGBUS when it is written. */
    if (ftruncate(fd, (off_t)length_bytes) != 0 ||
        (in_shm && length_bytes > 0 && fallocate(fd, 0, 0, (off_t)length_bytes) != 0)) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

const char *sys_own_program(void) {
    static const char LINK[] = "/proc/self/exe";
    /* The auxiliary vector has addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    const char *started_as = (const char *)getauxval(AT_EXECFN);
    return access(LINK, X_OK) == 0 || started_as == NULL ? LINK : started_as;
}

/* linux/futex.h is not among musl's headers. */
enum { FUTEX_WAIT_OPERATION = 0, FUTEX_WAKE_OPERATION = 1, FUTEX_PRIVATE = 128 };

int sys_futex_wait(uint32_t *word, uint32_t expected, int shared) {
    int operation = FUTEX_WAIT_OPERATION | (shared ? 0 : FUTEX_PRIVATE);
    return syscall(SYS_futex, word, operation, expected, NULL) < 0 && errno != EINTR ? -errno : 0;
}

int sys_futex_wait_for(uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                               .tv_nsec = (long)(timeout_ns % 1000000000)};
    return syscall(SYS_futex, word, FUTEX_WAIT_OPERATION, expected, &timeout) < 0 && errno != EINTR ? -errno
                                                                                                    : 0;
}

int sys_futex_wake(uint32_t *word, int tasks, int shared) {
    int operation = FUTEX_WAKE_OPERATION | (shared ? 0 : FUTEX_PRIVATE);
    long woken = syscall(SYS_futex, word, operation, tasks);
    return woken < 0 ? -errno : (int)woken;
}

pid_t sys_task(void) {
    return (pid_t)syscall(SYS_gettid);
}

int sys_clock_gettime(clockid_t id, struct timespec *now) {
    return syscall(SYS_clock_gettime, id, now) < 0 ? -errno : 0;
}

int sys_scheduler(void) {
    long policy = syscall(SYS_sched_getscheduler, 0);
    return policy < 0 ? -errno : (int)policy;
}

int sys_set_scheduler(int policy, int priority) {
    return syscall(SYS_sched_setscheduler, 0, policy, &priority) < 0 ? -errno : 0;
}

int sys_close_range(unsigned first, unsigned last) {
    enum { CALL_CLOSE_RANGE = 436 }; /* the same on every architecture; old headers lack it */
    return syscall(CALL_CLOSE_RANGE, first, last, 0U) < 0 ? -errno : 0;
}

int64_t sys_count_entries(const char *path, char *scratch, size_t capacity) {
    enum { OWN_ENTRIES = 3, LENGTH_AT = 16 }; /* where d_reclen lies in struct linux_dirent64 */
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int64_t count = -OWN_ENTRIES;
    long got = 0;
    while ((got = syscall(SYS_getdents64, fd, scratch, capacity)) > 0) {
        for (long at = 0; at < got; count++) {
            uint16_t length;
            memcpy(&length, scratch + at + LENGTH_AT, sizeof length);
            at += length;
        }
    }
    int64_t error = -errno;
    close(fd);
    return got < 0 ? error : count;
}

void sys_sleep(int64_t pause_ns) {
    struct timespec left = {.tv_sec = (time_t)(pause_ns / 1000000000),
                            .tv_nsec = (long)(pause_ns % 1000000000)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

__attribute__((hot)) int sys_wait(pid_t pid, int *status) {
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}
