/* Files that strangers name: what a watched program has mapped, or says that it is made of. Between a look at
 * a name and its opening it may be given to something else, and to open a device acts, and a pipe waits. So a
 * file is found without being opened (O_PATH), and is opened only then, as the very file that was looked at.
 */
#ifndef CLONOMETER_CENSUS_STRANGERS_H
#define CLONOMETER_CENSUS_STRANGERS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens a regular file to be read, as `process` sees it (0: as we do): within its root, whatever links lead
 * elsewhere (openat2, Linux 5.6; where that is missing or refused, by its name). `follow`: also if the name
 * is a link itself. Its descriptor, -ESTALE where there is something else, or -errno. */
int strangers_open(pid_t process, const char *path, bool follow);

/* What it is, links followed; whether there is anything. */
bool strangers_look(pid_t process, const char *path, struct stat *status);

#endif
