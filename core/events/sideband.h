/* Records beside the samples: what becomes of address spaces. Pure; for events.c. Layouts:
 * perf_event_open(2), and linux/perf_event.h for those of build ids. */
#ifndef CLONOMETER_EVENTS_SIDEBAND_H
#define CLONOMETER_EVENTS_SIDEBAND_H

#include "events/events.h"

enum { SIDEBAND_COMM = 3, SIDEBAND_EXIT = 4, SIDEBAND_FORK = 7, SIDEBAND_MMAP2 = 10 };

/* Whether a record of this type ends with a sample_id, and so with the identifier. */
bool sideband_is(uint32_t type);

/* `misc` is that of its header. RECORD_OTHER for a name that was changed without exec. */
enum record_kind sideband_decode(const unsigned char *record, size_t length, uint32_t type, unsigned misc,
                                 struct trace_event *event, struct record_rest *rest);

#endif
