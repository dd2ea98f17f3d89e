/* The answer on its way: lines are gathered, since a write for each wakes its reader for each. */
#ifndef CLONOMETER_CENSUS_ANSWER_H
#define CLONOMETER_CENSUS_ANSWER_H

#include <stddef.h>

/* Adds a line, which its newline ends; sends what has been gathered where there is no more room. 0 or -errno.
 */
int answer_add(int answer, const char *line, size_t length);

/* Sends what has been gathered. 0 or -errno. */
int answer_send(int answer);

#endif
