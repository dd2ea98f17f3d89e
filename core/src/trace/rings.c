#include "trace/rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/sys.h"
#include "trace/lockdown.h"
#include "trace/tracefs.h"

enum { TEXT_BYTES = 8192, FORMAT_LOST = 1U << 4 };

static const struct {
    unsigned wanted;
    enum event_kind kind;
} PARTS[] = {
    {RINGS_TASKS, EVENT_NEW_TASK},      {RINGS_TASKS, EVENT_EXEC},         {RINGS_TASKS, EVENT_EXIT},
    {RINGS_SCHED, EVENT_WAKE},          {RINGS_SCHED, EVENT_WAKE_NEW},     {RINGS_SCHED, EVENT_SWITCH},
    {RINGS_CALLS, EVENT_CALL_ENTER},    {RINGS_CALLS, EVENT_CALL_EXIT},    {RINGS_FAULTS, EVENT_FAULT_USER},
    {RINGS_FAULTS, EVENT_FAULT_KERNEL}, {RINGS_FAULTS, EVENT_MINOR_FAULT}, {RINGS_FAULTS, EVENT_MAJOR_FAULT},
    {RINGS_SAMPLES, EVENT_SAMPLE},      {RINGS_EXEC, EVENT_EXEC},          {RINGS_FUTEX, EVENT_FUTEX},
    {RINGS_LOCKS, EVENT_LOCK_WANTED},   {RINGS_LOCKS, EVENT_LOCK_GOT},     {RINGS_WAKING, EVENT_WAKING},
};

/* arm64 and others have no tracepoints for page faults: then only their ends are known. Those of single calls
 * and of mmap_lock are options of the kernel's build (CONFIG_FTRACE_SYSCALLS and others). */
bool rings_may_lack(enum event_kind kind) {
    return kind == EVENT_FAULT_USER || kind == EVENT_FAULT_KERNEL || kind == EVENT_FUTEX ||
           kind == EVENT_LOCK_WANTED || kind == EVENT_LOCK_GOT;
}

bool rings_wants(unsigned wanted, enum event_kind kind) {
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (PARTS[i].kind == kind && (PARTS[i].wanted & wanted) != 0) {
            return true;
        }
    }
    return false;
}

struct perf_event_attr rings_plain_event(void) {
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .sample_period = 1,
        .sample_type = RECORD_PLAIN,
        .read_format = FORMAT_LOST,
        .disabled = 1,
        .sample_id_all = 1,
    };
}

int rings_describe(enum event_kind kind, struct perf_event_attr *attributes, struct event_format *format,
                   struct reason *reason) {
    return rings_describe_source(kind, &EVENT_SOURCES[kind], attributes, format, reason);
}

int rings_describe_source(enum event_kind kind, const struct event_source *source,
                          struct perf_event_attr *attributes, struct event_format *format,
                          struct reason *reason) {
    char text[TEXT_BYTES];
    *attributes = rings_plain_event();
    if (source->tracepoint == NULL) {
        attributes->type = PERF_TYPE_SOFTWARE;
        attributes->config = kind == EVENT_MINOR_FAULT   ? PERF_COUNT_SW_PAGE_FAULTS_MIN
                             : kind == EVENT_MAJOR_FAULT ? PERF_COUNT_SW_PAGE_FAULTS_MAJ
                             : kind == EVENT_SAMPLE      ? PERF_COUNT_SW_CPU_CLOCK
                                                         : PERF_COUNT_SW_DUMMY;
        if (kind == EVENT_SAMPLE) {
            attributes->sample_type = RECORD_STACK;
            attributes->exclude_callchain_user = 1;
        }
        return 0;
    }
    if (tracefs_read(source->tracepoint, "format", text, sizeof text) <= 0) {
        return tracefs_missing(reason)
                   ? -ENOENT
                   : reason_set(reason, -ENOENT,
                                "this kernel does not have the tracepoint %s, or it may not be read",
                                source->tracepoint);
    }
    if (event_format_read(text, source->fields, format) != 0) {
        return reason_set(reason, -ENOTSUP, "the format of the tracepoint %s is not understood",
                          source->tracepoint);
    }
    if (tracefs_read(source->tracepoint, "id", text, sizeof text) <= 0) {
        return reason_set(reason, -ENOENT, "the tracepoint %s has no id", source->tracepoint);
    }
    attributes->type = PERF_TYPE_TRACEPOINT;
    attributes->config = strtoull(text, NULL, 10);
    return 0;
}

long rings_event(struct perf_event_attr *attributes, int thread, int cpu, int leader) {
    long fd = syscall(SYS_perf_event_open, attributes, thread, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && attributes->read_format == FORMAT_LOST) {
        /* Kernels before 6.0 do not count what was lost; their records still tell. */
        attributes->read_format = 0;
        fd = syscall(SYS_perf_event_open, attributes, thread, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

/* Adds an event to a CPU's ring. 0 or -errno. */
static int add_event(struct rings *rings, struct ring *ring, struct perf_event_attr *attributes,
                     enum event_kind kind, int thread) {
    groups_join(ring, attributes);
    long fd = rings_event(attributes, thread, ring->cpu, groups_leader(ring));
    if (fd < 0) {
        return (int)fd;
    }
    ring->fds[ring->events] = (int)fd;
    ring->kinds[ring->events] = kind;
    ring->events++;
    rings->counts_losses = (attributes->read_format & FORMAT_LOST) != 0;
    if (ioctl((int)fd, PERF_EVENT_IOC_ID, &ring->identifiers[ring->events - 1]) != 0) {
        return -errno;
    }
    int error = ring->memories == 0 ? rings_give_memory(rings, ring, thread) : 0;
    if (error != 0) {
        return error;
    }
    return ioctl((int)fd, PERF_EVENT_IOC_SET_OUTPUT, ring->memory[0].owner) != 0 ? -errno : 0;
}

static int describe_event(struct rings *rings, enum event_kind kind, struct perf_event_attr *attributes,
                          struct reason *reason) {
    int error = rings_describe(kind, attributes, &rings->formats[kind], reason);
    attributes->use_clockid = 1;
    attributes->clockid = rings->clock;
    attributes->sample_period = kind == EVENT_SAMPLE ? rings->sample_period_ns : 1;
    rings->formats[kind].counters = rings->counters;
    return error;
}

static int prepare(struct rings *rings, size_t ring_bytes, clockid_t clock, size_t most) {
    uint64_t period = rings->sample_period_ns;
    *rings =
        (struct rings){.clock = clock, .sample_period_ns = period != 0 ? period : 100000, .set = rings->set};
    rings->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    rings->ring_bytes = rings->page_bytes;
    while (rings->ring_bytes < ring_bytes) {
        rings->ring_bytes *= 2;
    }
    rings->ring = calloc(most, sizeof *rings->ring);
    return rings->ring == NULL ? -ENOMEM : 0;
}

static int refuse(struct rings *rings, int error, enum event_kind kind, struct reason *reason) {
    char paranoid[16] = "?";
    const char *name = EVENT_SOURCES[kind].tracepoint;
    rings_close(rings);
    if (sys_read_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid) > 0) {
        paranoid[strcspn(paranoid, "\n")] = '\0';
    }
    if (error == -EACCES || error == -EPERM) {
        char locked[64];
        lockdown_here(locked, sizeof locked);
        return reason_set(reason, error, "perf_event_open refuses %s: %s (perf_event_paranoid is %s%s): %s",
                          name != NULL ? name : event_kind_name(kind), strerror(-error), paranoid, locked,
                          geteuid() != 0
                              ? "run it as root, or with CAP_PERFMON"
                              : "a container, a seccomp filter or lockdown forbids it; run it outside");
    }
    if (error == -ENOSYS) {
        return reason_set(reason, error, "this kernel, or a seccomp filter, does not have perf_event_open");
    }
    return reason_set(reason, error, "perf_event_open refuses %s: %s",
                      name != NULL ? name : event_kind_name(kind), strerror(-error));
}

static int add_to_all(struct rings *rings, enum event_kind kind, struct perf_event_attr *attributes) {
    for (size_t i = 0; i < rings->count; i++) {
        int error = add_event(rings, &rings->ring[i], attributes, kind, -1);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

/* CPUs that are offline have no ring. */
static int find_cpus(struct rings *rings, long cpus) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1};
    int refused = -ENODEV;
    for (int cpu = 0; cpu < cpus && cpu < RINGS_MOST_CPUS; cpu++) {
        long fd = rings_event(&attributes, -1, cpu, -1);
        if (fd >= 0) {
            close((int)fd);
            rings->ring[rings->count++].cpu = cpu;
        } else if (fd != -ENODEV) {
            refused = (int)fd;
        }
    }
    return rings->count > 0 ? 0 : refused;
}

int rings_open(struct rings *rings, unsigned wanted, size_t ring_bytes, clockid_t clock,
               struct reason *reason) {
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int error = prepare(rings, ring_bytes, clock, RINGS_MOST_CPUS);
    if (error == 0) {
        error = find_cpus(rings, cpus);
    }
    if (error != 0) {
        return refuse(rings, error, EVENT_NEW_TASK, reason);
    }
    error = groups_open(rings, reason);
    if (error != 0) {
        rings_close(rings);
        return error;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        struct perf_event_attr attributes;
        if ((wanted & PARTS[i].wanted) == 0) {
            continue;
        }
        error = describe_event(rings, PARTS[i].kind, &attributes, reason);
        if (error == -ENOENT && rings_may_lack(PARTS[i].kind)) {
            continue;
        }
        if (error != 0) {
            rings_close(rings);
            return error;
        }
        error = add_to_all(rings, PARTS[i].kind, &attributes);
        if (error != 0) {
            return refuse(rings, error, PARTS[i].kind, reason);
        }
    }
    return 0;
}

/* The tracepoints of one system call have the number where all others have it. */
static int describe_call(const char *tracepoint, const char *const *fields, struct event_format *format,
                         struct perf_event_attr *attributes) {
    char text[TEXT_BYTES];
    if (tracefs_read(tracepoint, "format", text, sizeof text) <= 0) {
        return -ENOENT;
    }
    if (event_format_read(text, fields, format) != 0 ||
        tracefs_read(tracepoint, "id", text, sizeof text) <= 0) {
        return -ENOTSUP;
    }
    attributes->type = PERF_TYPE_TRACEPOINT;
    attributes->config = strtoull(text, NULL, 10);
    return 0;
}

/* Of which kind an edge of a call is, and which of its fields are wanted. */
static enum event_kind call_edge(const char *name, bool enters, const char *const **fields) {
    static const char *const ENTERS[EVENT_MOST_FIELDS] = {"__syscall_nr"};
    static const char *const LEAVES[EVENT_MOST_FIELDS] = {"__syscall_nr", "ret"};
    if (enters && strcmp(name, "clone") == 0) {
        *fields = EVENT_SOURCES[EVENT_CLONE_ENTER].fields;
        return EVENT_CLONE_ENTER;
    }
    *fields = enters ? ENTERS : LEAVES;
    return enters ? EVENT_CALL_ENTER : EVENT_CALL_EXIT;
}

int rings_add_calls(struct rings *rings, const char *const *names, struct reason *reason) {
    static const char *const EDGES[] = {"enter", "exit"};
    size_t added = 0;
    for (; *names != NULL; names++) {
        for (int edge = 0; edge < 2; edge++) {
            char tracepoint[64];
            const char *const *fields = NULL;
            enum event_kind kind = call_edge(*names, edge == 0, &fields);
            struct perf_event_attr attributes = rings_plain_event();
            attributes.use_clockid = 1;
            attributes.clockid = rings->clock;
            snprintf(tracepoint, sizeof tracepoint, "syscalls/sys_%s_%s", EDGES[edge], *names);
            int error = describe_call(tracepoint, fields, &rings->formats[kind], &attributes);
            if (error == -ENOENT) {
                continue;
            }
            error = error != 0 ? error : add_to_all(rings, kind, &attributes);
            if (error != 0) {
                return refuse(rings, error, kind, reason);
            }
            added++;
        }
    }
    if (added == 0) {
        rings_close(rings);
        return reason_set(reason, -ENOENT, "this kernel has no tracepoints for single system calls");
    }
    return 0;
}

int rings_open_own(struct rings *rings, int thread, size_t ring_bytes, clockid_t clock,
                   struct reason *reason) {
    static const enum event_kind KINDS[] = {EVENT_SWITCHED_IN, EVENT_MINOR_FAULT, EVENT_MAJOR_FAULT};
    int error = prepare(rings, ring_bytes, clock, 1);
    if (error != 0) {
        return error;
    }
    rings->count = 1;
    rings->ring[0].cpu = -1;
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        struct perf_event_attr attributes;
        error = describe_event(rings, KINDS[i], &attributes, reason);
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        attributes.context_switch = KINDS[i] == EVENT_SWITCHED_IN;
        error = error != 0 ? error : add_event(rings, &rings->ring[0], &attributes, KINDS[i], thread);
        if (error != 0) {
            return refuse(rings, error, KINDS[i], reason);
        }
    }
    return 0;
}

static void control(const struct rings *rings, unsigned long request) {
    for (size_t i = 0; i < rings->count; i++) {
        for (size_t j = 0; j < rings->ring[i].events; j++) {
            ioctl(rings->ring[i].fds[j], request, 0);
        }
        groups_control(&rings->ring[i], request);
    }
}

void rings_start(const struct rings *rings) {
    control(rings, PERF_EVENT_IOC_ENABLE);
}

void rings_stop(const struct rings *rings) {
    control(rings, PERF_EVENT_IOC_DISABLE);
}

uint64_t rings_lost(const struct rings *rings) {
    /* A loss is told by a record only when there is room for one again; the counter knows at once. */
    uint64_t counted = 0;
    for (size_t i = 0; i < rings->count; i++) {
        for (size_t j = 0; j < rings->ring[i].events; j++) {
            uint64_t values[2] = {0, 0};
            if (read(rings->ring[i].fds[j], values, sizeof values) == sizeof values) {
                counted += values[1];
            }
        }
    }
    if (!rings->counts_losses) {
        /* Where a ring was full and no record came after that, nothing tells of the loss but its being full.
         */
        counted = rings->overfull;
    }
    return (counted > rings->lost ? counted : rings->lost) + rings->damaged;
}

void rings_close(struct rings *rings) {
    for (size_t i = 0; i < rings->count; i++) {
        struct ring *ring = &rings->ring[i];
        rings_take_memory(rings, ring);
        for (size_t j = 0; j < ring->events; j++) {
            close(ring->fds[j]);
        }
        groups_close(ring);
    }
    free(rings->ring);
    rings->ring = NULL;
    rings->count = 0;
}
