/* The memory of rings: given, read, made larger while the kernel writes to it, and taken away. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "events/perf_event.h"
#include "events/rings.h"

/* Records are 60 to 400 bytes long, those with a stack up to 1200; a user stack comes on top. */
enum { RECORD_BYTES = 65536, MOST_RECORD_BYTES = 1280 };

static size_t most_record(const struct rings *rings) {
    return MOST_RECORD_BYTES + rings->stack_bytes;
}

/* 0 or -errno, and then nothing is open. */
static int map_memory(const struct rings *rings, struct ring_memory *memory, int cpu, int thread) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .disabled = 1,
        .exclude_kernel = thread >= 0,
        .exclude_hv = thread >= 0,
        .use_clockid = 1,
        .clockid = rings->clock,
    };
    long fd = perf_event_call(&attributes, thread, cpu, -1);
    if (fd < 0) {
        return (int)fd;
    }
    void *page =
        mmap(NULL, rings->page_bytes + memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (page == MAP_FAILED) {
        int error = -errno;
        close((int)fd);
        return error;
    }
    memory->owner = (int)fd;
    memory->page = page;
    return 0;
}

/* Without CAP_IPC_LOCK rings count as locked memory (perf_event_mlock_kb, RLIMIT_MEMLOCK): then half of it is
 * better than nothing, and so on, while one record fits. */
int rings_give_memory(const struct rings *rings, struct ring *ring, int thread) {
    struct ring_memory *memory = &ring->memory[0];
    int error = -ENOMEM;
    for (size_t bytes = rings->ring_bytes;
         error != 0 && bytes >= most_record(rings) && bytes >= rings->page_bytes; bytes /= 2) {
        *memory = (struct ring_memory){.bytes = bytes};
        error = map_memory(rings, memory, ring->cpu, thread);
        if (error != 0 && error != -EPERM && error != -ENOMEM) {
            break;
        }
    }
    ring->memories = error == 0;
    return error == -EPERM ? -ENOMEM : error;
}

void rings_take_memory(const struct rings *rings, struct ring *ring) {
    for (size_t i = 0; i < ring->memories; i++) {
        munmap(ring->memory[i].page, rings->page_bytes + ring->memory[i].bytes);
        close(ring->memory[i].owner);
    }
    ring->memories = 0;
}

static enum event_kind kind_of(const struct ring *ring, uint64_t identifier) {
    for (size_t i = 0; i < ring->events; i++) {
        if (ring->identifiers[i] == identifier) {
            return ring->kinds[i];
        }
    }
    return EVENT_KINDS;
}

/* One record of a ring; when it happened, or `before_ns` where that is not told. */
static uint64_t take_record(struct rings *rings, const struct ring *ring, const unsigned char *record,
                            size_t length, uint64_t before_ns, rings_take *take, void *context) {
    struct trace_event event;
    struct record_rest rest;
    enum event_kind kind = kind_of(ring, record_identifier(record, length));
    const struct event_format *format = kind < EVENT_KINDS ? &rings->formats[kind] : NULL;
    enum record_kind decoded = kind < EVENT_KINDS || record_identifier(record, length) == 0
                                   ? record_decode(record, length, kind, format, &event, &rest)
                                   : RECORD_BAD;
    if (decoded == RECORD_EVENT) {
        uint64_t time_ns = event.time_ns;
        event.cpu = (uint16_t)(ring->cpu >= 0 ? ring->cpu : 0);
        take(context, &event, &rest);
        if (rest.counters > 0) {
            const struct record_rest nothing = {.text = NULL};
            event = counts_event(&event, &rest.reading);
            take(context, &event, &nothing);
        }
        return time_ns;
    }
    if (decoded == RECORD_LOST) {
        rings->lost += rest.lost;
    } else if (decoded == RECORD_BAD) {
        rings->damaged++;
    }
    return before_ns;
}

static void drain_one(struct rings *rings, struct ring *ring, const struct ring_memory *memory,
                      rings_take *take, void *context) {
    static unsigned char spare[RECORD_BYTES];
    struct perf_event_mmap_page *page = memory->page;
    const unsigned char *bytes = (const unsigned char *)page + rings->page_bytes;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail;
    uint64_t unread = head - tail;
    uint64_t last_ns = 0;
    bool full = unread + most_record(rings) > memory->bytes;
    ring->nearly_full = unread > memory->bytes - memory->bytes / 4;
    rings->overfull += full;
    const unsigned char *record = NULL;
    size_t length = 0;
    while ((record = ring_next(bytes, memory->bytes, &tail, head, spare, sizeof spare, &length,
                               &rings->damaged)) != NULL) {
        last_ns = take_record(rings, ring, record, length, last_ns, take, context);
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    if (full && (rings->whole_to_ns == 0 || last_ns < rings->whole_to_ns)) {
        rings->whole_to_ns = last_ns;
    }
}

void rings_drain(struct rings *rings, rings_take *take, void *context) {
    for (size_t i = 0; i < rings->count; i++) {
        struct ring *ring = &rings->ring[i];
        size_t memories = __atomic_load_n(&ring->memories, __ATOMIC_ACQUIRE);
        for (size_t j = 0; j < memories; j++) {
            drain_one(rings, ring, &ring->memory[j], take, context);
        }
    }
}

size_t rings_largest(const struct rings *rings) {
    size_t largest = 0;
    for (size_t i = 0; i < rings->count; i++) {
        const struct ring *ring = &rings->ring[i];
        size_t bytes = ring->memories > 0 ? ring->memory[ring->memories - 1].bytes : 0;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* As much as one ring may have: what we watch must not be pushed out of memory by our rings. */
static size_t most_bytes(const struct rings *rings) {
    enum { MEMORY_SHARE = 16 };
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * rings->page_bytes;
    size_t share = machine / MEMORY_SHARE / rings->count;
    return share < RINGS_MOST_BYTES ? share : RINGS_MOST_BYTES;
}

int rings_grow(struct rings *rings, size_t index, size_t factor) {
    struct ring *ring = &rings->ring[index];
    size_t count = ring->memories;
    struct ring_memory *memory = &ring->memory[count];
    if (count > RINGS_MOST_GROWTHS || ring->memory[count - 1].bytes * factor > most_bytes(rings)) {
        return -ENOSPC;
    }
    *memory = (struct ring_memory){.bytes = ring->memory[count - 1].bytes * factor};
    int error = map_memory(rings, memory, ring->cpu, -1);
    if (error != 0) {
        return error;
    }
    /* It is read from here on; each event writes to the one or to the other. */
    __atomic_store_n(&ring->memories, count + 1, __ATOMIC_RELEASE);
    for (size_t i = 0; i < ring->events; i++) {
        if (ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, memory->owner) != 0) {
            error = -errno;
        }
    }
    return error;
}
