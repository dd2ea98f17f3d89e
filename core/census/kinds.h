/* What many tasks have in common, so that it is told once: how they were made, by which program, what they
 * did and executed. A kind has a number until another one takes its place. */
#ifndef CLONOMETER_CENSUS_KINDS_H
#define CLONOMETER_CENSUS_KINDS_H

#include "census/family.h"

enum { KINDS = 512 };

/* The number of the task's kind; whether it is `new`: it must be told what that number means from here on. */
unsigned kinds_of(const struct census_task *task, bool *new);

#endif
