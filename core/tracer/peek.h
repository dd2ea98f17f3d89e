/* What a stopped task has at an address. */
#ifndef CLONOMETER_TRACER_PEEK_H
#define CLONOMETER_TRACER_PEEK_H

#include <sys/types.h>

#include "tracer/pointed.h"

enum { PEEK_TEXT = 256, PEEK_MOST_TEXTS = 12, PEEK_BYTES = 2048 };

/* Copies it to `bytes`; texts follow one another, each with its zero byte, and are cut at PEEK_TEXT. How many
 * bytes there are; 0 where nothing can be read. */
size_t peek(pid_t task, const struct pointed *pointed, uint64_t address, char bytes[PEEK_BYTES]);

#endif
