/* Two ways to read what tasks hold. /proc/meminfo is the whole machine's: there is no permission that it
 * needs, and whatever else allocates at that moment is counted too. A control group is charged for what its
 * tasks make and nothing else, but must be made, which takes the right to write there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/footprint/footprint.h"

enum {
    TEXT_BYTES = 16384,
    FILE_NAME_BYTES = 64,
    /* The kernel keeps its counts for each CPU and sums them up once a second (vm.stat_interval). */
    STAT_INTERVAL_NS = 1100000000,
    SETTLE_NS = 50000000 /* lets deferred freeing (RCU) end */
};

/* Root may ask for the sums at once. */
static void settle(void) {
    sys_sleep(SETTLE_NS);
    int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
    bool refreshed = fd >= 0 && write(fd, "1", 1) == 1;
    if (fd >= 0) {
        close(fd);
    }
    if (!refreshed) {
        sys_sleep(STAT_INTERVAL_NS);
    }
}

/* The number after a key at the start of a line, or INT64_MIN. */
static int64_t number_of(const char *text, const char *key, int64_t unit) {
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            return strtoll(line + length, NULL, 10) * unit;
        }
    }
    return INT64_MIN;
}

/* A sum of what is known; unknown where nothing is. */
static int64_t add(int64_t a, int64_t b) {
    return a == INT64_MIN ? b : b == INT64_MIN ? a : a + b;
}

static int read_machine(struct memory_account *now) {
    enum { KIB = 1024 };
    char text[TEXT_BYTES];
    long length = sys_read_file("/proc/meminfo", text, sizeof text);
    if (length <= 0) {
        return length < 0 ? (int)length : -EIO;
    }
    int64_t left = add(number_of(text, "MemFree:", KIB),
                       add(number_of(text, "Buffers:", KIB), number_of(text, "Cached:", KIB)));
    now->whole = left == INT64_MIN ? left : -left;
    now->kernel_stack = number_of(text, "KernelStack:", KIB);
    now->page_tables = number_of(text, "PageTables:", KIB);
    now->slab = number_of(text, "Slab:", KIB);
    now->user = number_of(text, "AnonPages:", KIB);
    now->kernel =
        add(add(now->kernel_stack, now->page_tables), add(now->slab, number_of(text, "Percpu:", KIB)));
    return 0;
}

static int64_t read_number(const char *group, const char *file) {
    char path[CGROUP_PATH_BYTES + FILE_NAME_BYTES];
    char text[64];
    snprintf(path, sizeof path, "%s/%s", group, file);
    return sys_read_file(path, text, sizeof text) > 0 ? strtoll(text, NULL, 10) : INT64_MIN;
}

static int read_group(const struct account *account, struct memory_account *now) {
    char path[CGROUP_PATH_BYTES + FILE_NAME_BYTES];
    char text[TEXT_BYTES];
    bool old = account->version_1;
    snprintf(path, sizeof path, "%s/memory.stat", account->group);
    long length = sys_read_file(path, text, sizeof text);
    if (length <= 0) {
        return length < 0 ? (int)length : -EIO;
    }
    now->whole = read_number(account->group, old ? "memory.usage_in_bytes" : "memory.current");
    now->user = old ? add(number_of(text, "rss ", 1), number_of(text, "mapped_file ", 1))
                    : number_of(text, "anon ", 1);
    now->kernel_stack = number_of(text, "kernel_stack ", 1);
    now->page_tables = number_of(text, "pagetables ", 1);
    now->slab = number_of(text, "slab ", 1);
    now->kernel = old ? read_number(account->group, "memory.kmem.usage_in_bytes")
                      : number_of(text, "kernel ", 1); /* Linux 5.18 */
    if (!old && now->kernel == INT64_MIN) {
        now->kernel =
            add(add(now->kernel_stack, now->page_tables), add(now->slab, number_of(text, "percpu ", 1)));
    }
    return 0;
}

int account_read(const struct account *account, struct memory_account *now) {
    settle();
    return account->of_group ? read_group(account, now) : read_machine(now);
}

static int write_own_pid(const char *directory) {
    char path[CGROUP_PATH_BYTES + FILE_NAME_BYTES];
    char number[24];
    int length = snprintf(number, sizeof number, "%d", (int)getpid());
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = write(fd, number, (size_t)length) == length ? 0 : -errno;
    close(fd);
    return error;
}

/* Makes a group below `directory` that accounts for memory. Version 2 gives a group the controller only where
 * its parent hands it down, and that has no processes of its own, so that a sibling of ours is tried too. */
static int make_below(const char *directory, bool version_1, char group[CGROUP_PATH_BYTES]) {
    int error = cgroup_make(directory, group);
    if (error != 0) {
        return error;
    }
    if (read_number(group, version_1 ? "memory.usage_in_bytes" : "memory.current") != INT64_MIN) {
        return 0;
    }
    rmdir(group);
    return -EOPNOTSUPP;
}

int account_make_group(const char *root, struct account *account) {
    int error = -ENOENT;
    for (int version = 2; version >= 1; version--) {
        bool old = version == 1;
        if (cgroup_own(root, old ? "memory" : NULL, account->home) != 0) {
            continue;
        }
        account->version_1 = old;
        error = make_below(account->home, old, account->group);
        if (error == 0) {
            return 0;
        }
        char parent[sizeof account->home];
        snprintf(parent, sizeof parent, "%s", account->home);
        char *slash = strrchr(parent, '/');
        if (!old && slash != NULL) {
            *slash = '\0';
            int other = make_below(parent, old, account->group);
            if (other == 0) {
                return 0;
            }
        }
    }
    return error;
}

int account_join_group(struct account *account, struct reason *reason) {
    int error = write_own_pid(account->group);
    return error == 0 ? 0
                      : reason_set(reason, error, "the control group %.200s cannot be joined: %s",
                                   account->group, strerror(-error));
}

void account_leave_group(const struct account *account) {
    int error = write_own_pid(account->home);
    if (error != 0) {
        dprintf(STDERR_FILENO, "probe: the control group %s cannot be left: %s\n", account->group,
                strerror(-error));
    }
}

int task_memory_read(pid_t pid, struct task_memory *memory) {
    enum { KIB = 1024 };
    char path[64];
    char text[TEXT_BYTES];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (sys_read_file(path, text, sizeof text) <= 0) {
        return -ESRCH;
    }
    memory->virtual_bytes = number_of(text, "VmSize:", KIB);
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    if (sys_read_file(path, text, sizeof text) <= 0) {
        return -ESRCH;
    }
    memory->resident_bytes = number_of(text, "Rss:", KIB);
    memory->private_bytes =
        add(number_of(text, "Private_Clean:", KIB), number_of(text, "Private_Dirty:", KIB));
    return 0;
}
