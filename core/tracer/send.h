/* What was heard, as frames of the driver protocol's grammar (docs/tracing.md). */
#ifndef CLONOMETER_TRACER_SEND_H
#define CLONOMETER_TRACER_SEND_H

#include "tracer/listen.h"

/* `reason` is empty where all went well. 0 or -errno. */
int send_heard(int fd, const struct listening *listening, const struct heard *heard, const char *reason);

#endif
