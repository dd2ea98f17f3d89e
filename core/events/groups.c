/* The kernel-facing half of counters: on each CPU one group that is read at every event of that CPU. The
 * events are members of the group, since a record tells the counts of its own group alone. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "events/rings.h"

enum { GROUP_FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

static long open_counter(const struct rings *rings, const struct counter *counter, int cpu, int leader) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = counter->type,
        .config = counter->config,
        .read_format = GROUP_FORMAT,
        .disabled = 1,
        /* A group that shares the processor with others is not on it all the time, and neither are the events
         * in it: they would be missed. Pinned, it is always there or it is refused. */
        .pinned = leader < 0,
        .use_clockid = 1,
        .clockid = rings->clock,
    };
    long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static void explain_refusal(char *text, size_t capacity, int error) {
    const char *why = strerror(-error);
    if (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV) {
        why = "the processor does not count it; virtual machines often pass no counters through";
    } else if (error == -EINVAL || error == -ENOSPC) {
        why = "the processor has too few counters for one more, or others use them (kernel.nmi_watchdog)";
    } else if (error == -EACCES || error == -EPERM) {
        why = "perf_event_open refuses it: it needs root or CAP_PERFMON";
    } else if (error == -EBUSY) {
        why = "another program has exclusive use of the counters";
    }
    snprintf(text, capacity, "%s", why);
}

/* The leader comes last: to enable a member of a group that is on the processor already does nothing on some
 * kernels (6.18). */
void groups_control(const struct ring *ring, unsigned long request) {
    for (size_t i = ring->counters; i-- > 0;) {
        ioctl(ring->counter_fds[i], request, 0);
    }
}

static void give_up_last(struct ring *ring) {
    close(ring->counter_fds[--ring->counters]);
}

/* Whether the group gets onto the processor: one that is pinned and does not cannot be read. */
static bool fits(const struct ring *ring) {
    unsigned char bytes[sizeof(uint64_t) * (3 + COUNTERS_MOST)];
    groups_control(ring, PERF_EVENT_IOC_ENABLE);
    bool read_some = read(ring->counter_fds[0], bytes, sizeof bytes) > 0;
    groups_control(ring, PERF_EVENT_IOC_DISABLE);
    return read_some;
}

/* Chooses what is counted, on the first CPU. */
static void choose(struct rings *rings, struct ring *ring) {
    size_t places[COUNTERS_MOST];
    for (size_t i = 0; i < COUNTERS_MOST; i++) {
        int leader = ring->counters > 0 ? ring->counter_fds[0] : -1;
        long fd = open_counter(rings, &rings->set->counter[i], ring->cpu, leader);
        if (fd < 0) {
            explain_refusal(rings->refused[i], sizeof rings->refused[i], (int)fd);
            continue;
        }
        places[ring->counters] = i;
        rings->counted[ring->counters] = &rings->set->counter[i];
        ring->counter_fds[ring->counters++] = (int)fd;
    }
    while (ring->counters > 0 && !fits(ring)) {
        give_up_last(ring);
        size_t place = places[ring->counters];
        explain_refusal(rings->refused[place], sizeof rings->refused[place], -ENOSPC);
    }
    rings->counters = ring->counters;
}

static int follow_choice(struct rings *rings, struct ring *ring) {
    for (size_t i = 0; i < rings->counters; i++) {
        long fd = open_counter(rings, rings->counted[i], ring->cpu, i > 0 ? ring->counter_fds[0] : -1);
        if (fd < 0) {
            return (int)fd;
        }
        ring->counter_fds[ring->counters++] = (int)fd;
    }
    return fits(ring) ? 0 : -ENOSPC;
}

int groups_open(struct rings *rings, struct reason *reason) {
    if (rings->set == NULL || rings->count == 0) {
        return 0;
    }
    choose(rings, &rings->ring[0]);
    if (rings->counters == 0) {
        return reason_set(reason, -ENOENT, "no %s counters here: %s: %s", rings->set->name,
                          rings->set->counter[0].name, rings->refused[0]);
    }
    for (size_t i = 1; i < rings->count; i++) {
        int error = follow_choice(rings, &rings->ring[i]);
        if (error != 0) {
            char why[sizeof rings->refused[0]];
            explain_refusal(why, sizeof why, error);
            return reason_set(reason, error, "no %s counters here: CPU %d does not count as CPU %d does: %s",
                              rings->set->name, rings->ring[i].cpu, rings->ring[0].cpu, why);
        }
    }
    return 0;
}

void groups_join(const struct ring *ring, struct perf_event_attr *attributes) {
    if (ring->counters > 0) {
        attributes->read_format = GROUP_FORMAT;
        attributes->sample_type |= RECORD_READ;
    }
}

int groups_leader(const struct ring *ring) {
    return ring->counters > 0 ? ring->counter_fds[0] : -1;
}

void groups_close(struct ring *ring) {
    while (ring->counters > 0) {
        give_up_last(ring);
    }
}
