/* What the arguments of a system call point to, as far as a reader wants to see it. Pure. */
#ifndef CLONOMETER_TRACER_POINTED_H
#define CLONOMETER_TRACER_POINTED_H

#include <stddef.h>
#include <stdint.h>

enum pointed_kind {
    POINTED_TEXT,  /* ends with a zero byte */
    POINTED_TEXTS, /* addresses of such, ended by a zero address */
    POINTED_BYTES
};

struct pointed {
    unsigned argument; /* the first one is 0 */
    enum pointed_kind kind;
    size_t bytes; /* of POINTED_BYTES */
};

enum { POINTED_MOST = 2, POINTED_CLONE3_BYTES = 88 };

/* Fills `pointed` and says how many there are. Arguments that are no address (0) are left out. */
size_t pointed_at(uint64_t number, const uint64_t arguments[6], struct pointed pointed[POINTED_MOST]);

#endif
