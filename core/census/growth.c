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
        growth->given_up[growth->index] = growth->result != 0;
        growth->times -= growth->result != 0;
    }
}

void growth_look(struct growth *growth) {
    if (growth->running && atomic_load(&growth->done)) {
        growth_end(growth);
    }
    for (size_t i = 0; i < growth->rings->count && !growth->running; i++) {
        if (growth->rings->ring[i].nearly_full && !growth->given_up[i]) {
            growth->index = i;
            atomic_store(&growth->done, false);
            growth->running = begin_quietly(growth) == 0;
            growth->given_up[i] = !growth->running;
            growth->times += growth->running;
        }
    }
}
