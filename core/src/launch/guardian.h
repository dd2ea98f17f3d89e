/* A small process of its own that removes a directory, with the files in it, when the probe has gone,
 * whatever ended it. */
#ifndef CLONOMETER_GUARDIAN_H
#define CLONOMETER_GUARDIAN_H

#include <sys/types.h>

#define GUARDIAN_WORD "--remove-when-gone"

struct guardian {
    pid_t pid;
    int pipe; /* open as long as the directory is needed; children that exec do not inherit it */
};

/* Starts the guardian of `directory`, which is empty yet. 0, or -errno; then the directory is gone already.
 */
int guardian_start(struct guardian *guardian, const char *directory);

/* Lets it remove the directory and waits until it has. 0, or -EBUSY if it could not. */
int guardian_end(struct guardian *guardian);

/* The guardian's whole life, called by main: reads descriptor 0 to its end, then removes the directory, with
 * patience for tasks that are just leaving. Its exit status. */
int guardian_main(const char *directory);

#endif
