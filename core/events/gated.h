/* The one start under watch. The child waits at a gate, which a byte opens once somebody watches. The gate's
 * end opens nothing: whoever would have watched has gone then, and the child leaves without having run the
 * program. */
#ifndef CLONOMETER_EVENTS_GATED_H
#define CLONOMETER_EVENTS_GATED_H

#include <stdbool.h>
#include <sys/types.h>

struct gated_words {
    char **arguments;       /* the first is looked for as a shell does */
    bool ends_with_starter; /* it is killed when the thread that starts it ends */
    /* What the child does once it is released; false: it leaves. May be NULL. */
    bool (*prepare)(const void *context);
    const void *context;
};

struct gated {
    pid_t pid;       /* 0: none was started, or it has been waited for, and its number may be another's */
    int pidfd;       /* below zero: there are no handles here (pidfd.h) */
    int gate[2];     /* both ends: so the byte never meets a broken pipe */
    int failure;     /* where it says why it was not executed */
    int not_started; /* errno of its exec, once it has been waited for; 0: it was executed, or not released */
};

/* Starts the child. It has the mask of signals that we have, and the default for every signal that we catch,
 * before any can reach it: a signal to both ends it, or comes to the program. A signal that we caught before
 * the child was there it has not got: ask for such before the release. 0 or -errno. */
int gated_start(const struct gated_words *words, struct gated *gated);

/* Lets the program begin. 0 or -errno. */
int gated_release(struct gated *gated);

/* Takes what a wait for it has given. Its exit status, as a shell tells it. */
int gated_take(struct gated *gated, int status);

/* Sends it a signal; nothing where it has been waited for. */
void gated_signal(const struct gated *gated, int number);

/* Kills it, unless it has been waited for, and waits. Its exit status, -1 where there was nothing to wait
 * for. */
int gated_kill(struct gated *gated);

#endif
