/* Listening is opened, started, stopped and closed: which events on which CPUs. */
#include "events/rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/sys.h"
#include "events/cpus.h"
#include "events/lockdown.h"
#include "events/perf_event.h"
#include "events/registers.h"

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
    {RINGS_SPACES, EVENT_MAPPED},       {RINGS_CGROUPS, EVENT_MOVED},
};

bool rings_wants(unsigned wanted, enum event_kind kind) {
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (PARTS[i].kind == kind && (PARTS[i].wanted & wanted) != 0) {
            return true;
        }
    }
    return false;
}

/* Adds an event to a CPU's ring. 0 or -errno. */
static int add_event(struct rings *rings, struct ring *ring, struct perf_event_attr *attributes,
                     enum event_kind kind, int thread) {
    if (ring->events == RINGS_MOST_EVENTS) {
        return -E2BIG;
    }
    groups_join(ring, attributes);
    long fd = perf_event_call(attributes, thread, ring->cpu, groups_leader(ring));
    if (fd < 0) {
        return (int)fd;
    }
    ring->fds[ring->events] = (int)fd;
    ring->kinds[ring->events] = kind;
    ring->events++;
    rings->counts_losses = (attributes->read_format & PERF_EVENT_COUNTS_LOST) != 0;
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
    int error = perf_event_describe(kind, attributes, &rings->formats[kind], reason);
    attributes->use_clockid = 1;
    attributes->clockid = rings->clock;
    attributes->sample_period = kind == EVENT_SAMPLE ? rings->sample_period_ns : 1;
    rings->formats[kind].counters = rings->counters;
    return error;
}

static int prepare(struct rings *rings, size_t ring_bytes, clockid_t clock, size_t most) {
    uint64_t period = rings->sample_period_ns;
    *rings = (struct rings){.clock = clock,
                            .sample_period_ns = period != 0 ? period : 100000,
                            .stack_bytes = rings->stack_bytes,
                            .root = rings->root,
                            .set = rings->set};
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
    size_t cpus = rings->count;
    rings_close(rings);
    if (sys_read_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid) > 0) {
        paranoid[strcspn(paranoid, "\n")] = '\0';
    }
    if (error == -EACCES || error == -EPERM) {
        char locked[64];
        lockdown_here(locked, sizeof locked);
        /* Root may lack the capability too. */
        return reason_set(
            reason, error,
            "perf_event_open refuses %s: %s (perf_event_paranoid is %s%s): run it with sudo, or with "
            "CAP_PERFMON; if that is refused too, outside this container, seccomp filter or lockdown",
            name != NULL ? name : event_kind_name(kind), strerror(-error), paranoid, locked);
    }
    if (error == -E2BIG) {
        return reason_set(reason, error, "a ring has no room for more than %d kinds of events",
                          RINGS_MOST_EVENTS);
    }
    if (error == -EMFILE) {
        return reason_set(reason, error,
                          "listening on %zu CPUs takes more open files than RLIMIT_NOFILE allows", cpus);
    }
    if (error == -ENOMEM) {
        return reason_set(reason, error,
                          "the kernel gives no memory for the events of %zu CPUs (perf_event_mlock_kb and "
                          "RLIMIT_MEMLOCK limit it)",
                          cpus);
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

/* CPUs that are offline have no ring, nor have numbers that the kernel does not know, where /sys is not its
 * own. Where one that is there refuses, all do: of the rest of the machine nothing would be heard. */
static int find_cpus(struct rings *rings, long cpus) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1};
    for (int cpu = 0; cpu < cpus; cpu++) {
        long fd = perf_event_call(&attributes, -1, cpu, -1);
        if (fd >= 0) {
            close((int)fd);
            rings->ring[rings->count++].cpu = cpu;
        } else if (fd != -ENODEV && !(fd == -EINVAL && rings->count > 0)) {
            return (int)fd;
        }
    }
    return rings->count > 0 ? 0 : -ENODEV;
}

int rings_open(struct rings *rings, unsigned wanted, size_t ring_bytes, clockid_t clock,
               struct reason *reason) {
    long cpus = cpus_possible(rings->root != NULL ? rings->root : "");
    int error = prepare(rings, ring_bytes, clock, cpus > 0 ? (size_t)cpus : 1);
    if (error == 0 && cpus < 0) {
        rings_close(rings);
        return reason_set(reason, (int)cpus, "no more than %d CPUs can be listened on", CPUS_MOST);
    }
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
        if (error == -ENOENT && perf_event_may_lack(PARTS[i].kind)) {
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

/* Adds an edge of a call. 0, -ENOENT where this kernel lacks it, or -errno. */
static int add_edge(struct rings *rings, const char *name, bool enters, enum event_kind kind,
                    const char *const *fields) {
    char tracepoint[64];
    struct perf_event_attr attributes = perf_event_plain();
    attributes.use_clockid = 1;
    attributes.clockid = rings->clock;
    snprintf(tracepoint, sizeof tracepoint, "syscalls/sys_%s_%s", enters ? "enter" : "exit", name);
    int error = perf_event_describe_call(tracepoint, fields, &rings->formats[kind], &attributes);
    if (error != 0) {
        return error;
    }
    if (kind == EVENT_STACK) {
        attributes.sample_type |= RECORD_REGISTERS | RECORD_USER_STACK;
        attributes.sample_regs_user = REGISTERS_MASK;
        attributes.sample_stack_user = (uint32_t)rings->stack_bytes;
    }
    return add_to_all(rings, kind, &attributes);
}

static int add_edges(struct rings *rings, const char *const *names, bool stacks, struct reason *reason) {
    size_t added = 0;
    for (; *names != NULL; names++) {
        for (int edge = 0; edge < (stacks ? 1 : 2); edge++) {
            const char *const *fields = NULL;
            enum event_kind kind = call_edge(*names, edge == 0, &fields);
            kind = stacks ? EVENT_STACK : kind;
            fields = stacks ? EVENT_SOURCES[EVENT_STACK].fields : fields;
            int error = add_edge(rings, *names, edge == 0, kind, fields);
            if (error != 0 && error != -ENOENT) {
                return refuse(rings, error, kind, reason);
            }
            added += error == 0;
        }
    }
    if (added == 0) {
        rings_close(rings);
        return reason_set(reason, -ENOENT, "this kernel has no tracepoints for single system calls");
    }
    return 0;
}

int rings_add_calls(struct rings *rings, const char *const *names, struct reason *reason) {
    return add_edges(rings, names, false, reason);
}

int rings_add_stacks(struct rings *rings, const char *const *names, struct reason *reason) {
    return add_edges(rings, names, true, reason);
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
