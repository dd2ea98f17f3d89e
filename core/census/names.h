/* By which name a program is known. */
#ifndef CLONOMETER_CENSUS_NAMES_H
#define CLONOMETER_CENSUS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Copies a path; of one that is too long the end, where its name is, behind "…". `room` is at least 8. */
void name_copy(char *to, size_t room, const char *path, size_t length);

/* Which name tells most: `given`: the file as exec was given it, maybe a symbolic link; `runs`: the file that
 * runs, links resolved; `word`: the first word of its arguments; each may be "". `script`: `given` is another
 * file than `runs`, which interprets it. A program of many names is told by its word, a script by its file.
 * Pure. */
const char *name_choose(const char *given, const char *runs, const char *word, bool script);

/* Whether a file's name as exec was given it says nothing about the program (/proc/self/exe). */
bool name_says_nothing(const char *given);

/* What a process runs, as /proc tells; "" where it has gone or belongs to somebody else. */
void name_of_process(pid_t process, char *name, size_t room);

#endif
