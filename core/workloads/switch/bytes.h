/* Waking through a descriptor that is written to and read from. */
#ifndef CLONOMETER_BYTES_H
#define CLONOMETER_BYTES_H

#include "workloads/switch/ring.h"

int bytes_wait(struct ring *ring, int task);
int bytes_post(struct ring *ring, int task);

#endif
