/* The kernel-facing half of trace_by_perf. Events are opened for each CPU and not for the program: inherited
 * events distort fork itself, and others would miss the launches of its threads. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/sys.h"
#include "trace/trace.h"

enum { MOST_CPUS = 512, RING_BYTES = 512 << 10, RECORD_BYTES = 4096, TEXT_BYTES = 8192, STEP_NS = 1000000 };

struct ring {
    int fd;
    struct perf_event_mmap_page *page; /* the ring begins on the next page */
};

struct rings {
    struct newtask_format format;
    size_t page_bytes;
    size_t count;
    struct ring ring[MOST_CPUS];
};

static long read_event_file(const char *name, char *text, size_t capacity) {
    static const char *const PLACES[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    long length = -ENOENT;
    for (size_t i = 0; length < 0 && i < sizeof PLACES / sizeof PLACES[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/events/task/task_newtask/%s", PLACES[i], name);
        length = sys_read_file(path, text, capacity);
    }
    return length;
}

static int open_ring(struct rings *rings, int cpu, uint64_t id) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attributes,
        .config = id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
    };
    long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    void *page = mmap(NULL, rings->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (page == MAP_FAILED) {
        int error = -errno;
        close((int)fd);
        return error;
    }
    rings->ring[rings->count++] = (struct ring){.fd = (int)fd, .page = page};
    return 0;
}

static void close_rings(struct rings *rings) {
    for (size_t i = 0; i < rings->count; i++) {
        munmap(rings->ring[i].page, rings->page_bytes + RING_BYTES);
        close(rings->ring[i].fd);
    }
}

static int open_rings(struct rings *rings, struct reason *reason) {
    char text[TEXT_BYTES];
    if (read_event_file("format", text, sizeof text) <= 0 ||
        decode_newtask_format(text, &rings->format) != 0 || read_event_file("id", text, sizeof text) <= 0) {
        return reason_set(
            reason, -ENOENT,
            "the tracepoint task:task_newtask cannot be read: no tracefs is mounted, or no right");
    }
    uint64_t id = strtoull(text, NULL, 10);
    rings->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++) {
        int error = open_ring(rings, cpu, id);
        if (error == -ENODEV) {
            continue; /* offline */
        }
        if (error != 0) {
            close_rings(rings);
            return reason_set(reason, error, "perf_event_open refuses the tracepoint on CPU %d: %s", cpu,
                              strerror(-error));
        }
    }
    return 0;
}

/* A task with the time it was made at, since each CPU has a ring of its own. */
struct timed_task {
    struct new_task task;
    uint64_t time;
};

static int by_time(const void *left, const void *right) {
    uint64_t a = ((const struct timed_task *)left)->time;
    uint64_t b = ((const struct timed_task *)right)->time;
    return (a > b) - (a < b);
}

static size_t drain(const struct rings *rings, int32_t pid, struct timed_task *tasks, size_t count,
                    uint64_t *lost) {
    enum { TIME_AT = 16 };
    unsigned char record[RECORD_BYTES];
    for (size_t i = 0; i < rings->count; i++) {
        struct perf_event_mmap_page *page = rings->ring[i].page;
        const unsigned char *bytes = (const unsigned char *)page + rings->page_bytes;
        uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = page->data_tail;
        for (;;) {
            struct timed_task found = {.time = 0};
            size_t length = decode_ring_next(bytes, RING_BYTES, &tail, head, record, sizeof record);
            if (length == 0) {
                break;
            }
            if (decode_record(record, length, &rings->format, &found.task, lost) != RECORD_NEW_TASK ||
                found.task.creator != pid) {
                continue;
            }
            memcpy(&found.time, record + TIME_AT, sizeof found.time);
            if (count < TRACE_MOST_TASKS) {
                tasks[count++] = found;
            } else {
                (*lost)++;
            }
        }
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    }
    return count;
}

int trace_by_perf(char **arguments, struct trace *trace, struct reason *reason) {
    static struct rings rings;
    static struct timed_task tasks[TRACE_MOST_TASKS];
    memset(trace, 0, sizeof *trace);
    int error = open_rings(&rings, reason);
    if (error != 0) {
        return error;
    }
    pid_t pid = fork();
    if (pid == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (pid < 0) {
        close_rings(&rings);
        return reason_set(reason, -EAGAIN, "%s cannot be started", arguments[0]);
    }
    int status = 0;
    size_t count = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct timespec pause = {.tv_nsec = STEP_NS};
        count = drain(&rings, pid, tasks, count, &trace->lost);
        nanosleep(&pause, NULL);
    }
    count = drain(&rings, pid, tasks, count, &trace->lost);
    close_rings(&rings);
    qsort(tasks, count, sizeof tasks[0], by_time);
    for (size_t i = 0; i < count; i++) {
        trace_note(trace, &tasks[i].task);
    }
    trace->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 0;
}
