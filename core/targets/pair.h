/* What both programs of a pair of clock readings do with it: the difference goes into the probe's stamp page.
 */
#ifndef CLONOMETER_TARGETS_PAIR_H
#define CLONOMETER_TARGETS_PAIR_H

#include "stamps.h"

/* Where in the stamp page (struct stamps, whose layout first_pair.c asserts). */
enum { PAIR_OFFSET = 48 };

static inline void target_send_pair(const char *what, int64_t first_ns, int64_t second_ns) {
    int64_t apart_ns = second_ns - first_ns;
    target_write(what, &apart_ns, sizeof apart_ns, PAIR_OFFSET);
}

#endif
