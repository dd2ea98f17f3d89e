#include "census/wakes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clone.h"
#include "events/assemble.h"
#include "events/bpf.h"

enum { RING_BYTES = 1 << 20, MOST_ASKING = 4096, MOST_WAITING = 4096, MOST_INSTRUCTIONS = 32 };

/* Places on the stack: a note, and the key of a map. */
enum { NOTE_BYTES = 24, TIME_AT = -32, WAKER_AT = -24, WOKEN_AT = -16, KEY_AT = -8 };

/* task_newtask(task, flags): the task at work asks with CLONE_VFORK. */
static void build_asks(struct writer *to, const struct wakes *wakes) {
    load(to, BPF_DW, 6, 1, 8);
    with_constant(to, BPF_AND, 6, TASK_VFORK);
    size_t other = jump_constant(to, BPF_JEQ, 6, 0);
    call(to, HELPER_TASK);
    store(to, STACK, KEY_AT, 0);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->asking);
    load_place(to, 2, KEY_AT);
    load_place(to, 3, KEY_AT);
    with_constant(to, BPF_MOV, 4, BPF_ANY);
    call(to, HELPER_UPDATE);
    land(to, other);
    leave_with(to, 0);
}

/* sched_process_fork(parent, child), a moment later: what its address is, by which alone a wake-up names it.
 */
static void build_waits(struct writer *to, const struct wakes *wakes) {
    load(to, BPF_DW, 6, 1, 0);
    call(to, HELPER_TASK);
    store(to, STACK, WOKEN_AT, 0);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->asking);
    load_place(to, 2, WOKEN_AT);
    call(to, HELPER_LOOK_UP);
    size_t other = jump_constant(to, BPF_JEQ, 0, 0);
    store(to, STACK, KEY_AT, 6);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->waiting);
    load_place(to, 2, KEY_AT);
    load_place(to, 3, WOKEN_AT);
    with_constant(to, BPF_MOV, 4, BPF_ANY);
    call(to, HELPER_UPDATE);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->asking);
    load_place(to, 2, WOKEN_AT);
    call(to, HELPER_DELETE);
    land(to, other);
    leave_with(to, 0);
}

/* sched_waking(task). */
static void build_wakes(struct writer *to, const struct wakes *wakes) {
    load(to, BPF_DW, 6, 1, 0);
    store(to, STACK, KEY_AT, 6);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->waiting);
    load_place(to, 2, KEY_AT);
    call(to, HELPER_LOOK_UP);
    size_t other = jump_constant(to, BPF_JEQ, 0, 0);
    load(to, BPF_DW, 7, 0, 0);
    store(to, STACK, WOKEN_AT, 7);
    call(to, HELPER_TIME);
    store(to, STACK, TIME_AT, 0);
    call(to, HELPER_TASK);
    store(to, STACK, WAKER_AT, 0);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->notes);
    load_place(to, 2, TIME_AT);
    with_constant(to, BPF_MOV, 3, NOTE_BYTES);
    with_constant(to, BPF_MOV, 4, BPF_RB_NO_WAKEUP);
    call(to, HELPER_NOTE);
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->waiting);
    load_place(to, 2, KEY_AT);
    call(to, HELPER_DELETE);
    land(to, other);
    leave_with(to, 0);
}

static const struct {
    const char *tracepoint;
    void (*build)(struct writer *to, const struct wakes *wakes);
} PROGRAMS[WAKES_PROGRAMS] = {
    {"task_newtask", build_asks}, {"sched_process_fork", build_waits}, {"sched_waking", build_wakes}};

static int open_map(int *map, enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes,
                    unsigned entries) {
    union bpf_attr attributes = {
        .map_type = type, .key_size = key_bytes, .value_size = value_bytes, .max_entries = entries};
    long made = bpf_call(BPF_MAP_CREATE, &attributes);
    *map = made < 0 ? -1 : (int)made;
    return made < 0 ? (int)made : 0;
}

static int attach(struct wakes *wakes, int index) {
    struct bpf_insn program[MOST_INSTRUCTIONS];
    struct writer to = {.program = program};
    PROGRAMS[index].build(&to, wakes);
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
                                 .insn_cnt = (uint32_t)to.length,
                                 .insns = (uint64_t)(uintptr_t)program,
                                 .license = (uint64_t)(uintptr_t)"Apache-2.0",
                                 .prog_name = "clonometer"};
    long loaded = bpf_call(BPF_PROG_LOAD, &attributes);
    if (loaded < 0) {
        return (int)loaded;
    }
    long attached = bpf_attach_raw(PROGRAMS[index].tracepoint, (int)loaded);
    close((int)loaded);
    wakes->attached[index] = attached < 0 ? -1 : (int)attached;
    return attached < 0 ? (int)attached : 0;
}

static int map_ring(struct wakes *wakes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, wakes->notes, 0);
    wakes->read = ours != MAP_FAILED ? ours : NULL;
    void *ring = mmap(NULL, page + 2 * (size_t)RING_BYTES, PROT_READ, MAP_SHARED, wakes->notes, (off_t)page);
    wakes->ring = ring != MAP_FAILED ? ring : NULL;
    return wakes->read == NULL || wakes->ring == NULL ? -ENOMEM : 0;
}

int wakes_open(struct wakes *wakes) {
    *wakes = (struct wakes)WAKES_CLOSED;
    int error = open_map(&wakes->asking, BPF_MAP_TYPE_HASH, 8, 8, MOST_ASKING);
    if (error == 0) {
        /* A task that need not sleep in the end stays in it until it is woken for something else, or others
         * take its place. */
        error = open_map(&wakes->waiting, BPF_MAP_TYPE_LRU_HASH, 8, 8, MOST_WAITING);
    }
    if (error == 0) {
        error = open_map(&wakes->notes, BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES);
    }
    error = error == 0 ? map_ring(wakes) : error;
    for (int i = 0; i < WAKES_PROGRAMS && error == 0; i++) {
        error = attach(wakes, i);
    }
    if (error != 0) {
        wakes_close(wakes);
    }
    return error;
}

bool wakes_take(const unsigned char *ring, size_t bytes, uint64_t *read, uint64_t written,
                struct wake *wake) {
    enum { HEAD_BYTES = 8 };
    while (*read < written) {
        const unsigned char *at = ring + (*read & (bytes - 1));
        uint64_t words[NOTE_BYTES / 8];
        /* Two bits of a note's length say that it is being written, or not to be read. */
        uint32_t length = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
        uint32_t note_bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        if ((length & BPF_RINGBUF_BUSY_BIT) != 0) {
            return false;
        }
        *read += (HEAD_BYTES + (uint64_t)note_bytes + 7) / 8 * 8;
        if ((length & BPF_RINGBUF_DISCARD_BIT) == 0 && note_bytes == NOTE_BYTES) {
            memcpy(words, at + HEAD_BYTES, sizeof words);
            /* The upper half of a task is its process. */
            *wake =
                (struct wake){words[0], (int32_t)(words[1] & UINT32_MAX), (int32_t)(words[2] & UINT32_MAX)};
            return true;
        }
    }
    return false;
}

bool wakes_next(struct wakes *wakes, struct wake *wake) {
    if (wakes->ring == NULL) {
        return false;
    }
    uint64_t read = *wakes->read;
    uint64_t written = __atomic_load_n((const uint64_t *)wakes->ring, __ATOMIC_ACQUIRE);
    const unsigned char *ring = (const unsigned char *)wakes->ring + sysconf(_SC_PAGESIZE);
    bool taken = wakes_take(ring, RING_BYTES, &read, written, wake);
    __atomic_store_n(wakes->read, read, __ATOMIC_RELEASE);
    return taken;
}

static void close_one(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

void wakes_close(struct wakes *wakes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < WAKES_PROGRAMS; i++) {
        close_one(&wakes->attached[i]);
    }
    if (wakes->read != NULL) {
        munmap(wakes->read, page);
        wakes->read = NULL;
    }
    if (wakes->ring != NULL) {
        munmap(wakes->ring, page + 2 * (size_t)RING_BYTES);
        wakes->ring = NULL;
    }
    close_one(&wakes->asking);
    close_one(&wakes->waiting);
    close_one(&wakes->notes);
}
