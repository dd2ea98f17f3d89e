/* The kernel's descriptions of its tracepoints: tracefs where it is mounted, else a mount of our own that
 * nobody else sees and that is gone with our last descriptor. */
#ifndef CLONOMETER_TRACEFS_H
#define CLONOMETER_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"

/* Reads events/TRACEPOINT/NAME into `text`, as sys_read_file does. Its length, -ENOENT where there is no
 * tracefs or not this file, or -errno. */
long tracefs_read(const char *tracepoint, const char *name, char *text, size_t capacity);

/* Why there is no tracefs here, with the next step. False, and nothing is said, where there is one. */
bool tracefs_missing(struct reason *reason);

#endif
