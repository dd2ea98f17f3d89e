#include "trace/fast.h"

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

#include "trace/lockdown.h"

static long bpf(enum bpf_cmd command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : result;
}

static int map_memory(struct fast *fast) {
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY,
                                 .key_size = 4,
                                 .value_size = (uint32_t)fast->bytes,
                                 .max_entries = 1,
                                 .map_flags = BPF_F_MMAPABLE};
    long map = bpf(BPF_MAP_CREATE, &attributes);
    if (map < 0) {
        return (int)map;
    }
    fast->map = (int)map;
    void *memory = mmap(NULL, fast->bytes, PROT_READ, MAP_SHARED, fast->map, 0);
    fast->memory = memory == MAP_FAILED ? NULL : memory;
    return memory == MAP_FAILED ? -errno : 0;
}

static long load_program(struct fast *fast, enum event_kind kind, enum program_type type,
                         const struct event_format *format) {
    static const enum bpf_prog_type TYPES[] = {BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT,
                                               BPF_PROG_TYPE_PERF_EVENT};
    struct bpf_insn program[PROGRAM_MOST_INSTRUCTIONS];
    size_t length = program_build(program, kind, type, format, &fast->layout, fast->map,
                                  (int)offsetof(struct bpf_perf_event_data, addr));
    union bpf_attr attributes = {.prog_type = TYPES[type],
                                 .insn_cnt = (uint32_t)length,
                                 .insns = (uint64_t)(uintptr_t)program,
                                 .license = (uint64_t)(uintptr_t) "Apache-2.0",
                                 .prog_name = "clonometer"};
    long loaded = bpf(BPF_PROG_LOAD, &attributes);
    if (loaded >= 0) {
        fast->programs[fast->program_count++] = (int)loaded;
    }
    return loaded;
}

static int attach_raw(struct fast *fast, enum event_kind kind, long program) {
    const char *name = strchr(EVENT_SOURCES[kind].tracepoint, '/') + 1;
    union bpf_attr attributes = {
        .raw_tracepoint = {.name = (uint64_t)(uintptr_t)name, .prog_fd = (uint32_t)program}};
    long attached = bpf(BPF_RAW_TRACEPOINT_OPEN, &attributes);
    if (attached >= 0) {
        fast->attached[fast->attached_count++] = (int)attached;
    }
    return attached < 0 ? (int)attached : 0;
}

static int attach_event(struct fast *fast, struct perf_event_attr *attributes, int cpu, long program) {
    long fd = syscall(SYS_perf_event_open, attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    fast->attached[fast->attached_count++] = (int)fd;
    return ioctl((int)fd, PERF_EVENT_IOC_SET_BPF, (int)program) != 0 ||
                   ioctl((int)fd, PERF_EVENT_IOC_ENABLE, 0) != 0
               ? -errno
               : 0;
}

/* A tracepoint's program hears all CPUs by whichever it was attached on; the other events are each a CPU's.
 */
static int attach_perf(struct fast *fast, struct perf_event_attr *attributes, bool every_cpu, long program) {
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int done = 0;
    for (int cpu = 0; cpu < cpus && cpu < RINGS_MOST_CPUS && (every_cpu || done == 0); cpu++) {
        int error = attach_event(fast, attributes, cpu, program);
        if (error != 0 && error != -ENODEV) {
            return error;
        }
        done += error == 0;
    }
    return done > 0 ? 0 : -ENODEV;
}

static int note_kind(struct fast *fast, enum event_kind kind, struct reason *reason) {
    struct perf_event_attr attributes;
    struct event_format format = {.fields = 0};
    int error = rings_describe(kind, &attributes, &format, reason);
    if (error != 0) {
        return error;
    }
    long program = load_program(fast, kind, program_type(kind), &format);
    if (program < 0) {
        error = (int)program;
    } else if (program_type(kind) == PROGRAM_RAW) {
        error = attach_raw(fast, kind, program);
    } else {
        error = attach_perf(fast, &attributes, program_type(kind) == PROGRAM_PERF, program);
    }
    return error == 0 ? 0
                      : reason_set(reason, error, "bpf does not note %s: %s", event_kind_name(kind),
                                   strerror(-error));
}

/* One call by its own tracepoint: that leaves all other calls nearly as fast as ever. The numbers of calls
 * that an architecture does not have are not missed. */
static int note_call(struct fast *fast, enum event_kind kind, const char *call, struct reason *reason) {
    char tracepoint[64];
    struct perf_event_attr attributes;
    struct event_format format = {.fields = 0};
    snprintf(tracepoint, sizeof tracepoint, "syscalls/sys_%s_%s", kind == EVENT_CALL_ENTER ? "enter" : "exit",
             call);
    const struct event_source source = {tracepoint,
                                        {"__syscall_nr", kind == EVENT_CALL_EXIT ? "ret" : NULL, NULL, NULL}};
    int error = rings_describe_source(kind, &source, &attributes, &format, reason);
    if (error == -ENOENT) {
        reason->text[0] = '\0';
        return 0;
    }
    long program = error == 0 ? load_program(fast, kind, PROGRAM_TRACEPOINT, &format) : error;
    error = program < 0 ? (int)program : attach_perf(fast, &attributes, false, program);
    return error == 0 ? 0
                      : reason_set(reason, error, "bpf does not note %s: %s", tracepoint, strerror(-error));
}

static int note_main_calls(struct fast *fast, struct reason *reason) {
    static const char *const CALLS[] = {"clone", "clone3", "fork",  "vfork", "execve",    "execveat",
                                        "wait4", "waitid", "futex", "exit",  "exit_group"};
    size_t before = fast->attached_count;
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        int error = note_call(fast, EVENT_CALL_ENTER, CALLS[i], reason);
        error = error != 0 ? error : note_call(fast, EVENT_CALL_EXIT, CALLS[i], reason);
        if (error != 0) {
            return error;
        }
    }
    return fast->attached_count > before
               ? 0
               : reason_set(reason, -ENOENT, "this kernel has no tracepoints of single system calls");
}

static void lay_out(struct fast *fast, size_t bytes_per_cpu) {
    enum { MOST_BYTES = 512 << 20 };
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    fast->layout = (struct program_layout){.cpu_bits = 0, .note_bits = 10};
    while ((1L << fast->layout.cpu_bits) < cpus) {
        fast->layout.cpu_bits++;
    }
    while (((size_t)NOTE_BYTES << fast->layout.note_bits) < bytes_per_cpu &&
           2 * program_memory_bytes(&fast->layout) < MOST_BYTES) {
        fast->layout.note_bits++;
    }
    fast->bytes = program_memory_bytes(&fast->layout);
}

int fast_open(struct fast *fast, unsigned wanted, size_t bytes_per_cpu, struct reason *reason) {
    *fast = (struct fast){.map = -1};
    lay_out(fast, bytes_per_cpu);
    int error = map_memory(fast);
    if (error != 0) {
        fast_close(fast);
        char locked[64];
        lockdown_here(locked, sizeof locked);
        return reason_set(reason, error, "bpf gives no memory of %zu bytes: %s%s", fast->bytes,
                          strerror(-error), locked);
    }
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        if (kind == EVENT_EXEC || !rings_wants(wanted, (enum event_kind)kind)) {
            continue;
        }
        error = note_kind(fast, (enum event_kind)kind, reason);
        if (error == -ENOENT && rings_may_lack((enum event_kind)kind)) {
            reason->text[0] = '\0';
            continue;
        }
        if (error != 0) {
            fast_close(fast);
            return error;
        }
    }
    error = (wanted & RINGS_MAIN) != 0 ? note_main_calls(fast, reason) : 0;
    if (error != 0) {
        fast_close(fast);
    }
    return error;
}

uint64_t fast_missed(const struct fast *fast) {
    uint64_t all = 0;
    for (size_t i = 0; i < fast->program_count; i++) {
        struct bpf_prog_info info;
        memset(&info, 0, sizeof info);
        union bpf_attr attributes = {.info = {.bpf_fd = (uint32_t)fast->programs[i],
                                              .info_len = sizeof info,
                                              .info = (uint64_t)(uintptr_t)&info}};
        all += bpf(BPF_OBJ_GET_INFO_BY_FD, &attributes) == 0 ? info.recursion_misses : 0;
    }
    return all;
}

static void detach(struct fast *fast) {
    for (size_t i = 0; i < fast->attached_count; i++) {
        close(fast->attached[i]);
    }
    fast->attached_count = 0;
}

uint64_t fast_stop(struct fast *fast, rings_take *take, void *context) {
    const struct record_rest nothing = {.text = NULL};
    detach(fast);
    uint64_t lost = 0;
    uint64_t room = (uint64_t)1 << fast->layout.note_bits;
    for (unsigned cpu = 0; cpu < (1U << fast->layout.cpu_bits); cpu++) {
        uint64_t notes = program_notes(fast->memory, cpu);
        uint64_t first = notes > room ? notes - room : 0;
        lost += first;
        for (uint64_t i = first; i < notes; i++) {
            struct trace_event event;
            program_note(fast->memory, &fast->layout, cpu, i, &event);
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
    detach(fast);
    for (size_t i = 0; i < fast->program_count; i++) {
        close(fast->programs[i]);
    }
    if (fast->memory != NULL) {
        munmap(fast->memory, fast->bytes);
    }
    if (fast->map >= 0) {
        close(fast->map);
    }
    *fast = (struct fast){.map = -1};
}
