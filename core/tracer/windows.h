/* Listening and not listening in turn while one program runs, so that what listening costs is seen within one
 * process: the same memory, the same CPU, the same few milliseconds. */
#ifndef CLONOMETER_TRACER_WINDOWS_H
#define CLONOMETER_TRACER_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/rings.h"
#include "tracer/fast.h"

enum { WINDOWS_MOST = 1024 };

/* From when all was attached, or all was detached, until that began to change; CLOCK_MONOTONIC. */
struct window {
    uint64_t begin_ns;
    uint64_t end_ns;
    bool listened;
};

struct windows {
    struct window window[WINDOWS_MOST];
    size_t count;
};

/* Until `readable` is that, or WINDOWS_MOST have passed: each window is `each_ns` long. It begins with
 * listening, which goes on already, and ends with whatever it is then. 0 or -errno. */
int windows_alternate(struct windows *windows, int readable, uint64_t each_ns, struct rings *rings,
                      struct fast *fast);

#endif
