/* The driver protocol (docs/protocol.md). */
#ifndef CLONOMETER_ANSWER_H
#define CLONOMETER_ANSWER_H

#include <stdbool.h>

#include "probe/measure.h"

#define CLONOMETER_VERSION "0.1.0"

/* The unit that a column is declared with. */
const char *answer_unit(enum column_kind kind);

/* Whether a value of it below zero means something. */
bool answer_signed(enum column_kind kind);

/* Sends all finished blocks. 0 or -errno. */
int answer_blocks(int fd, const struct measurement *measurement);

/* Sends the preamble. 0 or -errno. */
int answer_preamble(int fd);

/* Ends the answer. `status` is "ok", "skipped" or "failed"; `reason` NULL for "ok"; `error` an errno or 0. */
int answer_done(int fd, const char *status, const char *reason, int error, int64_t blocks);

#endif
