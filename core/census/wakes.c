#include "census/wakes.h"

#include <errno.h>
#include <unistd.h>

#include "base/clone.h"
#include "events/assemble.h"
#include "events/bpf.h"

enum { MOST_ASKING = 4096, MOST_WAITING = 4096 };

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
    load_map(to, 1, BPF_PSEUDO_MAP_FD, wakes->notes.map);
    load_place(to, 2, TIME_AT);
    with_constant(to, BPF_MOV, 3, NOTE_BYTES);
    with_constant(to, BPF_MOV, 4, BPF_RB_NO_WAKEUP);
    call(to, HELPER_NOTE);
    notes_count_loss(to, &wakes->notes);
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

static int attach(struct wakes *wakes, int index) {
    struct writer to = {.length = 0};
    struct reason why;
    PROGRAMS[index].build(&to, wakes);
    /* Why not need not be known: a record of each wake-up serves as well. */
    long loaded = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &to, &why);
    if (loaded < 0) {
        return (int)loaded;
    }
    long attached = bpf_attach_raw(PROGRAMS[index].tracepoint, (int)loaded);
    close((int)loaded);
    wakes->attached[index] = attached < 0 ? -1 : (int)attached;
    return attached < 0 ? (int)attached : 0;
}

int wakes_open(struct wakes *wakes) {
    *wakes = (struct wakes)WAKES_CLOSED;
    int error = bpf_open_map(&wakes->asking, BPF_MAP_TYPE_HASH, 8, 8, MOST_ASKING);
    if (error == 0) {
        /* A task that need not sleep in the end stays in it until it is woken for something else, or others
         * take its place. */
        error = bpf_open_map(&wakes->waiting, BPF_MAP_TYPE_LRU_HASH, 8, 8, MOST_WAITING);
    }
    error = error == 0 ? notes_open(&wakes->notes) : error;
    for (int i = 0; i < WAKES_PROGRAMS && error == 0; i++) {
        error = attach(wakes, i);
    }
    if (error != 0) {
        wakes_close(wakes);
    }
    return error;
}

bool wakes_next(struct wakes *wakes, struct wake *wake) {
    uint64_t words[NOTE_BYTES / 8];
    if (!notes_next(&wakes->notes, words, sizeof words)) {
        return false;
    }
    /* The upper half of a task is its process. */
    *wake = (struct wake){words[0], (int32_t)(words[1] & UINT32_MAX), (int32_t)(words[2] & UINT32_MAX)};
    return true;
}

static void close_one(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

void wakes_close(struct wakes *wakes) {
    for (int i = 0; i < WAKES_PROGRAMS; i++) {
        close_one(&wakes->attached[i]);
    }
    notes_close(&wakes->notes);
    close_one(&wakes->asking);
    close_one(&wakes->waiting);
}
