#include "tracer/fast.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "events/assemble.h"
#include "events/bpf.h"
#include "events/cpus.h"
#include "events/lockdown.h"
#include "events/perf_event.h"

static int map_memory(struct fast *fast) {
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY,
                                 .key_size = 4,
                                 .value_size = (uint32_t)fast->bytes,
                                 .max_entries = 1,
                                 .map_flags = BPF_F_MMAPABLE};
    long map = bpf_call(BPF_MAP_CREATE, &attributes);
    if (map < 0) {
        return (int)map;
    }
    fast->map = (int)map;
    void *memory = mmap(NULL, fast->bytes, PROT_READ, MAP_SHARED, fast->map, 0);
    fast->memory = memory == MAP_FAILED ? NULL : memory;
    return memory == MAP_FAILED ? -errno : 0;
}

/* Whether this kernel takes a place in one instruction: one that loads no program at all says so later. */
static bool has_fetch(void) {
    struct writer program;
    struct reason why;
    program_build_test(&program);
    long loaded = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &program, &why);
    if (loaded >= 0) {
        close((int)loaded);
    }
    return loaded >= 0;
}

static long load_program(const struct fast *fast, const struct program_wish *wish, struct reason *why) {
    static const enum bpf_prog_type TYPES[] = {BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT,
                                               BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_KPROBE};
    struct writer program;
    program_build(&program, wish, &fast->layout, fast->map);
    return bpf_load(TYPES[wish->type], &program, why);
}

/* 0, or -ENOMEM, and then it is closed. */
static int keep_attached(struct fast *fast, long attached) {
    if (fast->attached_count == fast->attached_room) {
        size_t room = 2 * fast->attached_room + FAST_MOST_PROGRAMS;
        int *more = realloc(fast->attached, room * sizeof *more);
        if (more == NULL) {
            close((int)attached);
            return -ENOMEM;
        }
        fast->attached = more;
        fast->attached_room = room;
    }
    fast->attached[fast->attached_count++] = (int)attached;
    return 0;
}

static int attach_raw(struct fast *fast, const struct fast_tap *tap) {
    long attached = bpf_attach_raw(tap->raw, tap->program);
    return attached < 0 ? (int)attached : keep_attached(fast, attached);
}

static int attach_event(struct fast *fast, const struct fast_tap *tap, int cpu) {
    struct perf_event_attr attributes = perf_event_plain();
    attributes.type = tap->type_of;
    attributes.config = tap->config;
    attributes.config1 = tap->config1;
    attributes.config2 = tap->config2;
    if (tap->type == PROGRAM_PERF) {
        /* The kernel makes all that a record would have before it calls the program, which reads only this.
         */
        attributes.sample_type = RECORD_ADDRESS;
    }
    long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = keep_attached(fast, fd);
    if (error != 0) {
        return error;
    }
    /* A tracepoint's program runs where no event is enabled too, and then no record is written for us. */
    bool enable = tap->type == PROGRAM_PERF;
    return ioctl((int)fd, PERF_EVENT_IOC_SET_BPF, tap->program) != 0 ||
                   (enable && ioctl((int)fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
               ? -errno
               : 0;
}

/* A tracepoint's or a place's program hears all CPUs by whichever it was attached on; the other events are
 * each a CPU's. */
static int attach_perf(struct fast *fast, const struct fast_tap *tap) {
    bool every_cpu = tap->type == PROGRAM_PERF;
    int done = 0;
    for (int cpu = 0; cpu < fast->cpus && (every_cpu || done == 0); cpu++) {
        int error = attach_event(fast, tap, cpu);
        /* It is offline, or is none that the kernel knows (rings.c). */
        bool absent = error == -ENODEV || (error == -EINVAL && done > 0);
        if (error != 0 && !absent) {
            return error;
        }
        done += error == 0;
    }
    return done > 0 ? 0 : -ENODEV;
}

static int attach(struct fast *fast, const struct fast_tap *tap) {
    return tap->raw != NULL ? attach_raw(fast, tap) : attach_perf(fast, tap);
}

/* Keeps a program, and attaches it. 0 or -errno. */
static int add_tap(struct fast *fast, const struct fast_tap *tap) {
    if (fast->tap_count == FAST_MOST_PROGRAMS) {
        close(tap->program);
        return -E2BIG;
    }
    fast->taps[fast->tap_count++] = *tap;
    return attach(fast, tap);
}

void fast_pause(struct fast *fast) {
    for (size_t i = 0; i < fast->attached_count; i++) {
        close(fast->attached[i]);
    }
    fast->attached_count = 0;
}

int fast_resume(struct fast *fast) {
    int error = 0;
    for (size_t i = 0; i < fast->tap_count && error == 0; i++) {
        error = attach(fast, &fast->taps[i]);
    }
    if (error != 0) {
        fast_pause(fast);
    }
    return error;
}

static void fast_forget(struct fast *fast) {
    fast_pause(fast);
    for (size_t i = 0; i < fast->tap_count; i++) {
        close(fast->taps[i].program);
    }
    fast->tap_count = 0;
}

static enum program_type type_of(const struct fast *fast, enum event_kind kind) {
    bool names_tasks =
        kind == EVENT_SWITCH || kind == EVENT_WAKE || kind == EVENT_WAKE_NEW || kind == EVENT_NEW_TASK;
    return fast->by_record && names_tasks ? PROGRAM_TRACEPOINT : program_type(kind);
}

static int note_kind(struct fast *fast, enum event_kind kind, struct reason *reason) {
    struct perf_event_attr attributes;
    struct event_format format = {.fields = 0};
    int error = perf_event_describe(kind, &attributes, &format, reason);
    if (error != 0) {
        return error;
    }
    const struct program_wish wish = {.kind = kind,
                                      .type = type_of(fast, kind),
                                      .asks_task = fast->asks_tasks,
                                      .main_only = fast->main_only,
                                      .format = &format,
                                      .address_at = (int)offsetof(struct bpf_perf_event_data, addr)};
    struct reason why;
    long program = load_program(fast, &wish, &why);
    if (program < 0) {
        return reason_set(reason, (int)program, "bpf cannot record %s: %s", event_kind_name(kind), why.text);
    }
    const struct fast_tap tap = {
        .program = (int)program,
        .type = wish.type,
        .raw = wish.type == PROGRAM_RAW ? strchr(EVENT_SOURCES[kind].tracepoint, '/') + 1 : NULL,
        .type_of = attributes.type,
        .config = attributes.config};
    error = add_tap(fast, &tap);
    return error == 0 ? 0
                      : reason_set(reason, error, "bpf cannot record %s: %s", event_kind_name(kind),
                                   strerror(-error));
}

static bool wants(const struct fast *fast, unsigned wanted, enum event_kind kind) {
    bool call = kind == EVENT_CALL_ENTER || kind == EVENT_CALL_EXIT;
    /* That a task leaves, and that a new one can run, is told by the call and by its making as well. */
    bool twice = kind == EVENT_EXIT || kind == EVENT_WAKE_NEW;
    return kind != EVENT_EXEC && (call ? fast->main_only || rings_wants(wanted, kind)
                                       : rings_wants(wanted, kind) && !(twice && fast->main_only));
}

static int note_kinds(struct fast *fast, unsigned wanted, struct reason *reason) {
    int error = 0;
    for (int kind = 0; kind < EVENT_KINDS && error == 0; kind++) {
        if (!wants(fast, wanted, (enum event_kind)kind)) {
            continue;
        }
        error = note_kind(fast, (enum event_kind)kind, reason);
        if (error == -ENOENT && perf_event_may_lack((enum event_kind)kind)) {
            error = 0;
            reason->text[0] = '\0';
        }
        if (error == -EINVAL && kind == EVENT_SWITCH && !fast->by_record) {
            /* Before Linux 5.18 it does not tell in which state a task leaves. */
            fast_forget(fast);
            fast->by_record = true;
            reason->text[0] = '\0';
            return note_kinds(fast, wanted, reason);
        }
    }
    return error;
}

/* The type of perf events at places in user code; -ENODEV: this kernel has none. */
static int uprobe_type(void) {
    char text[16];
    ssize_t length = sys_read_file("/sys/bus/event_source/devices/uprobe/type", text, sizeof text);
    return length > 0 ? (int)strtol(text, NULL, 10) : -ENODEV;
}

static int note_mark(struct fast *fast, int type, int mark, struct reason *why) {
    const struct program_wish wish = {.kind = EVENT_MARK, .type = PROGRAM_UPROBE, .mark = mark};
    long program = load_program(fast, &wish, why);
    if (program < 0) {
        return (int)program;
    }
    const struct fast_tap tap = {.program = (int)program,
                                 .type = PROGRAM_UPROBE,
                                 .type_of = (uint32_t)type,
                                 .config = fast->marks.returns[mark],
                                 .config1 = (uint64_t)(uintptr_t)fast->marks.file,
                                 .config2 = fast->marks.offsets[mark]};
    int error = add_tap(fast, &tap);
    return error == 0 ? 0 : reason_set(why, error, "%s", strerror(-error));
}

static void forget_marks(struct fast *fast, size_t taps, size_t attached) {
    while (fast->attached_count > attached) {
        close(fast->attached[--fast->attached_count]);
    }
    while (fast->tap_count > taps) {
        close(fast->taps[--fast->tap_count].program);
    }
}

static void note_marks(struct fast *fast) {
    size_t taps = fast->tap_count;
    size_t attached = fast->attached_count;
    int type = uprobe_type();
    int error = type < 0 ? type : 0;
    struct reason why = {"this kernel has none for perf events"};
    for (int i = 0; i < fast->marks.count && error == 0; i++) {
        error = note_mark(fast, type, i, &why);
    }
    if (error != 0 && fast->marks.count > 0) {
        forget_marks(fast, taps, attached);
        snprintf(fast->marks.refused, sizeof fast->marks.refused, "uprobes: %.140s", why.text);
    }
}

static void lay_out(struct fast *fast, size_t bytes_per_cpu) {
    enum { MOST_BYTES = 512 << 20 };
    fast->layout = (struct program_layout){.cpu_bits = 0, .note_bits = 10};
    while ((1L << fast->layout.cpu_bits) < fast->cpus) {
        fast->layout.cpu_bits++;
    }
    while (((size_t)NOTE_BYTES << fast->layout.note_bits) < bytes_per_cpu &&
           2 * program_memory_bytes(&fast->layout) < MOST_BYTES) {
        fast->layout.note_bits++;
    }
    fast->bytes = program_memory_bytes(&fast->layout);
}

int fast_open(struct fast *fast, unsigned wanted, size_t bytes_per_cpu, unsigned most_run,
              const struct fast_marks *marks, struct reason *reason) {
    *fast = (struct fast){.map = -1, .root = fast->root};
    if (marks != NULL) {
        fast->marks = *marks;
    }
    fast->cpus = cpus_possible(fast->root != NULL ? fast->root : "");
    if (fast->cpus < 0) {
        return reason_set(reason, (int)fast->cpus, "bpf cannot record on more than %d CPUs", CPUS_MOST);
    }
    lay_out(fast, bytes_per_cpu);
    fast->layout.most_run = most_run;
    fast->layout.no_fetch = !has_fetch();
    int error = map_memory(fast);
    if (error != 0) {
        char locked[64];
        lockdown_here(locked, sizeof locked);
        (void)reason_set(reason, error, "bpf cannot allocate %zu bytes: %s%s", fast->bytes, strerror(-error),
                         locked);
        fast_close(fast);
        return error;
    }
    fast->main_only = (wanted & RINGS_MAIN) != 0 && (wanted & RINGS_CALLS) == 0;
    fast->asks_tasks = (wanted & RINGS_SCHED) == 0;
    error = note_kinds(fast, wanted, reason);
    if (error != 0) {
        fast_close(fast);
        return error;
    }
    note_marks(fast);
    return 0;
}

uint64_t fast_missed(const struct fast *fast) {
    uint64_t all = 0;
    for (size_t i = 0; i < fast->tap_count; i++) {
        struct bpf_prog_info info;
        memset(&info, 0, sizeof info);
        union bpf_attr attributes = {.info = {.bpf_fd = (uint32_t)fast->taps[i].program,
                                              .info_len = sizeof info,
                                              .info = (uint64_t)(uintptr_t)&info}};
        all += bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attributes) == 0 ? info.recursion_misses : 0;
    }
    return all;
}

/* A program that was called before it was detached may still be at work on another CPU: the kernel waits for
 * those (membarrier waits for an RCU grace period), or, where it does not tell, we do: none takes that long.
 */
static void await_programs(void) {
    enum { GLOBAL = 1 /* MEMBARRIER_CMD_GLOBAL */, PAUSE_NS = 20000000 };
    if (syscall(SYS_membarrier, GLOBAL, 0) != 0) {
        sys_sleep(PAUSE_NS);
    }
}

uint64_t fast_stop(struct fast *fast, rings_take *take, void *context) {
    const struct record_rest nothing = {.text = NULL};
    fast_pause(fast);
    await_programs();
    uint64_t lost = 0;
    uint64_t room = (uint64_t)1 << fast->layout.note_bits;
    for (unsigned cpu = 0; cpu < (1U << fast->layout.cpu_bits); cpu++) {
        uint64_t notes = program_notes(fast->memory, cpu);
        uint64_t first = notes > room ? notes - room : 0;
        lost += first + program_displaced(fast->memory, cpu);
        fast->left_out += program_left_out(fast->memory, cpu);
        for (uint64_t i = first; i < notes; i++) {
            struct trace_event event;
            program_note(fast->memory, &fast->layout, cpu, i, &event);
            if (i == first && first > 0 && event.time_ns > fast->whole_from_ns) {
                fast->whole_from_ns = event.time_ns;
            }
            if (event.kind < EVENT_KINDS) {
                take(context, &event, &nothing);
            } else {
                lost++;
            }
        }
    }
    return lost;
}

void fast_close(struct fast *fast) {
    fast_forget(fast);
    if (fast->memory != NULL) {
        munmap(fast->memory, fast->bytes);
    }
    if (fast->map >= 0) {
        close(fast->map);
    }
    free(fast->attached);
    *fast = (struct fast){.map = -1};
}
