#include "census/growth.h"

#include <errno.h>
#include <signal.h>

enum { FACTOR = 8 };

static void *grow(void *context) {
    struct growth *growth = context;
    growth->result = rings_grow(growth->rings, growth->index, FACTOR);
    atomic_store(&growth->done, true);
    return NULL;
}

/* Signals are for the thread that watches. */
static int begin_quietly(struct growth *growth) {
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int error = pthread_create(&growth->thread, NULL, grow, growth);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return error;
}

void growth_end(struct growth *growth) {
    if (growth->running) {
        pthread_join(growth->thread, NULL);
        growth->running = false;
        growth->rings->ring[growth->index].given_up = growth->result != 0;
        growth->times -= growth->result != 0;
    }
}

void growth_look(struct growth *growth) {
    if (growth->running && atomic_load(&growth->done)) {
        growth_end(growth);
    }
    for (size_t i = 0; i < growth->rings->count && !growth->running; i++) {
        struct ring *ring = &growth->rings->ring[i];
        if (ring->nearly_full && !ring->given_up) {
            growth->index = i;
            atomic_store(&growth->done, false);
            growth->running = begin_quietly(growth) == 0;
            ring->given_up = !growth->running;
            growth->times += growth->running;
        }
    }
}
