/* The settings that must be put back, on disk before any of them is changed. Whatever kills one process may
 * kill all: those of a PID namespace and of a control group die together. */
#ifndef CLONOMETER_SAVED_H
#define CLONOMETER_SAVED_H

#include <stdbool.h>

#include "guardian/cpufreq.h"

struct saved {
    int folder;
    int fd; /* locked for as long as a process that inherited it lives: what is not locked was left */
};

enum saved_kind { SAVED_NOTHING, SAVED_LEFT, SAVED_BEFORE_THIS_BOOT };

/* Takes the file in a folder that belongs to this user alone; `make`: makes folder and file where they are
 * not. 0; -EBUSY: another guardian has it; -ENOENT; or -errno. With the reason. */
int saved_claim(struct saved *saved, struct cpufreq *cpufreq, const char *folder, bool make);

/* Reads what a guardian that has gone left in the file into `cpufreq->saved`, which the caller frees. What is
 * no setting of `cpufreq->root` is refused. A saved_kind, or -errno with the reason. */
int saved_read(const struct saved *saved, struct cpufreq *cpufreq);

/* Writes `cpufreq->saved`, and returns when the disk has it. 0 or -errno with the reason. */
int saved_write(const struct saved *saved, struct cpufreq *cpufreq);

/* Whether the file is the one that was taken; it is not once all was put back. */
bool saved_stands(const struct saved *saved);

/* Removes the file, and gives it up. */
void saved_remove(const struct saved *saved);

#endif
