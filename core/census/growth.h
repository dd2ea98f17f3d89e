/* Rings that are made larger while the program runs: by a thread, since each event that is sent to the new
 * ring takes the kernel a while, in which the old ones must be read. */
#ifndef CLONOMETER_CENSUS_GROWTH_H
#define CLONOMETER_CENSUS_GROWTH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "events/rings.h"

struct growth {
    struct rings *rings;
    pthread_t thread;
    bool running;
    atomic_bool done;
    size_t index; /* of the ring at work */
    int result;   /* of the last one; read when it is done */
    unsigned times;
};

/* Begins to make one larger that was nearly full when it was read last; after each reading. */
void growth_look(struct growth *growth);

/* Waits until none is being made larger any more. */
void growth_end(struct growth *growth);

#endif
