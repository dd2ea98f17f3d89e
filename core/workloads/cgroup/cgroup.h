/* The control group that this process is in, and one made below it. */
#ifndef CLONOMETER_CGROUP_H
#define CLONOMETER_CGROUP_H

#include <stddef.h>

enum { CGROUP_PATH_BYTES = 1024 };

/* The directory of this process's group: in the hierarchy of that controller of version 1, or in version 2's,
 * where `controller` is NULL. `root` is put before every path: "" but in tests. 0; -ENOENT: it has none
 * there; -ENAMETOOLONG. */
int cgroup_own(const char *root, const char *controller, char path[CGROUP_PATH_BYTES]);

/* The name of this process's own group below a group's directory. 0 or -ENAMETOOLONG. */
int cgroup_name(const char *directory, char path[CGROUP_PATH_BYTES]);

/* Makes a group of our own below a group's directory; its maker removes it, or has a remover do so. Its name
 * tells who left it, should nobody. 0 or -errno. */
int cgroup_make(const char *directory, char path[CGROUP_PATH_BYTES]);

#endif
