/* A small process of its own that removes a directory, with the files in it, when the probe has gone,
 * whatever ended it. */
#ifndef CLONOMETER_REMOVER_H
#define CLONOMETER_REMOVER_H

#include <sys/types.h>

#define REMOVER_WORD "--remove-when-gone"

/* What the probe says on stderr of a directory that it keeps; the runner removes what is left of it should
 * the probe and the remover both be killed (docs/protocol.md). */
#define REMOVER_KEEPS "keeps: "

struct remover {
    pid_t pid;
    int pipe; /* open as long as the directory is needed; children that exec do not inherit it */
};

/* Starts the remover of `directory`, which is empty yet. 0, or -errno; then the directory is gone already.
 */
int remover_start(struct remover *remover, const char *directory);

/* Lets it remove the directory and waits until it has; where it was killed, removes it itself. 0, or -errno
 * if nobody could, which is said on stderr with the path. */
int remover_end(const struct remover *remover, const char *directory);

/* The remover's whole life, called by main: reads descriptor 0 to its end, then removes the directory, with
 * patience for tasks that are just leaving. Its exit status. */
int remover_main(const char *directory);

#endif
