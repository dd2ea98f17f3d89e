/* What a target writes into the probe's stamp page (struct stamps, whose layout launch.c asserts). */
#ifndef CLONOMETER_ENTRY_H
#define CLONOMETER_ENTRY_H

#include <stdint.h>

struct entry_stamp {
    uint64_t ticks;
    uint32_t cpu;
};

enum { ENTRY_OFFSET = 16, ENTRY_STAMP_BYTES = 12 };

#endif
