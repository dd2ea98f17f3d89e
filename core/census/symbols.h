/* What an address of a module is called. */
#ifndef CLONOMETER_CENSUS_SYMBOLS_H
#define CLONOMETER_CENSUS_SYMBOLS_H

#include "census/unwind.h"

struct symbol {
    const struct module *module;
    uint64_t offset;      /* as the file counts addresses; of code that is in no file the address */
    const char *function; /* NULL: not known */
    uint64_t plus;        /* how far into it */
    const char *file;     /* of the source; NULL: there is no debug information */
    int line;
};

/* `returns`: the address is behind a call, which is what is named. Texts live as long as the unwinder. */
struct symbol symbol_of(struct unwinder *unwinder, uint64_t address, bool returns);

#endif
