/* Which ways of listening this machine allows to whoever asks. */
#ifndef CLONOMETER_TRACER_WAYS_H
#define CLONOMETER_TRACER_WAYS_H

/* Tries each with all events, and sends one JSON object: for each way null where it is allowed, else the
 * reason. 0 or -errno. */
int ways_send(int fd);

#endif
