/* One event of the kernel: what perf_event_open is asked for to hear of it, and the call. */
#ifndef CLONOMETER_EVENTS_PERF_EVENT_H
#define CLONOMETER_EVENTS_PERF_EVENT_H

#include "base/reason.h"
#include "events/events.h"

/* PERF_FORMAT_LOST, which headers before Linux 6.0 do not have. */
enum { PERF_EVENT_COUNTS_LOST = 1U << 4 };

/* Every event, each time that it happens; of which kind is yet to be said. */
struct perf_event_attr;
struct perf_event_attr perf_event_plain(void);

/* What the kernel is asked for to hear `kind`, and where its fields are. 0, or -errno with the reason. */
int perf_event_describe(enum event_kind kind, struct perf_event_attr *attributes, struct event_format *format,
                        struct reason *reason);

/* The same of the tracepoint of one system call. 0, -ENOENT where there is none, or -ENOTSUP. */
int perf_event_describe_call(const char *tracepoint, const char *const *fields, struct event_format *format,
                             struct perf_event_attr *attributes);

/* perf_event_open, without what older kernels do not know. A descriptor or -errno. */
long perf_event_call(struct perf_event_attr *attributes, int thread, int cpu, int leader);

/* Whether a kernel may lack `kind`, as arm64 lacks the causes of faults. */
bool perf_event_may_lack(enum event_kind kind);

#endif
