#include "events/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/tracefs.h"

enum { TEXT_BYTES = 8192 };

struct perf_event_attr perf_event_plain(void) {
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .sample_period = 1,
        .sample_type = RECORD_PLAIN,
        .read_format = PERF_EVENT_COUNTS_LOST,
        .disabled = 1,
        .sample_id_all = 1,
    };
}

/* Who maps code, begins a program, is made and leaves. Since Linux 5.12 mappings come with build ids: bit 34
 * of the flags, which older headers do not name. */
enum { FLAGS_AT = 40, BUILD_ID_BIT = 34 };

static void set_build_ids(struct perf_event_attr *attributes, bool wanted) {
    uint64_t flags = 0;
    memcpy(&flags, (char *)attributes + FLAGS_AT, sizeof flags);
    flags = wanted ? flags | UINT64_C(1) << BUILD_ID_BIT : flags & ~(UINT64_C(1) << BUILD_ID_BIT);
    memcpy((char *)attributes + FLAGS_AT, &flags, sizeof flags);
}

static void ask_for_spaces(struct perf_event_attr *attributes) {
    attributes->mmap = 1;
    attributes->mmap2 = 1;
    attributes->comm = 1;
    attributes->comm_exec = 1;
    attributes->task = 1;
    set_build_ids(attributes, true);
}

int perf_event_describe(enum event_kind kind, struct perf_event_attr *attributes, struct event_format *format,
                        struct reason *reason) {
    const struct event_source *source = &EVENT_SOURCES[kind];
    char text[TEXT_BYTES];
    *attributes = perf_event_plain();
    if (source->tracepoint == NULL) {
        attributes->type = PERF_TYPE_SOFTWARE;
        attributes->config = kind == EVENT_MINOR_FAULT   ? PERF_COUNT_SW_PAGE_FAULTS_MIN
                             : kind == EVENT_MAJOR_FAULT ? PERF_COUNT_SW_PAGE_FAULTS_MAJ
                             : kind == EVENT_SAMPLE      ? PERF_COUNT_SW_CPU_CLOCK
                                                         : PERF_COUNT_SW_DUMMY;
        if (kind == EVENT_SAMPLE) {
            attributes->sample_type = RECORD_STACK;
            attributes->exclude_callchain_user = 1;
        } else if (kind == EVENT_MAPPED) {
            ask_for_spaces(attributes);
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

int perf_event_describe_call(const char *tracepoint, const char *const *fields, struct event_format *format,
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

long perf_event_call(struct perf_event_attr *attributes, int thread, int cpu, int leader) {
    long fd = syscall(SYS_perf_event_open, attributes, thread, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && attributes->mmap2) {
        set_build_ids(attributes, false);
        fd = syscall(SYS_perf_event_open, attributes, thread, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    }
    if (fd < 0 && errno == EINVAL && attributes->read_format == PERF_EVENT_COUNTS_LOST) {
        /* Kernels before 6.0 do not count what was lost; their records still tell. */
        attributes->read_format = 0;
        fd = syscall(SYS_perf_event_open, attributes, thread, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

/* arm64 and others have no tracepoints for page faults: then only their ends are known. Those of single calls
 * and of mmap_lock are options of the kernel's build (CONFIG_FTRACE_SYSCALLS and others). */
bool perf_event_may_lack(enum event_kind kind) {
    return kind == EVENT_FAULT_USER || kind == EVENT_FAULT_KERNEL || kind == EVENT_FUTEX ||
           kind == EVENT_LOCK_WANTED || kind == EVENT_LOCK_GOT;
}
