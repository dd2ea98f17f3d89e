/* The answer on its way: lines are gathered, since a write for each wakes its reader for each. While
 * something is watched nobody waits for a reader that is stopped or slow: what it has not read is kept, up to
 * a bound. */
#ifndef CLONOMETER_CENSUS_ANSWER_H
#define CLONOMETER_CENSUS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/* From here on nothing waits for the reader. */
void answer_begin(int answer);

/* Whether so much is kept for the reader that lines which may be left out should be. */
bool answer_is_full(void);

/* Adds a line, which its newline ends; sends what has been gathered where that is much. 0 or -errno. */
int answer_add(int answer, const char *line, size_t length);

/* Sends what the reader takes at once. 0 or -errno. */
int answer_send(int answer);

/* Nothing is watched any more: from here on the reader is waited for, by every call here. 0 or -errno. */
int answer_await(int answer);

#endif
