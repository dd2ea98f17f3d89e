/* What code each process has mapped, and where: from the kernel's records in the order of time, or from /proc
 * where these began too late. Processes are numbered as our pid namespace does. */
#ifndef CLONOMETER_CENSUS_SPACES_H
#define CLONOMETER_CENSUS_SPACES_H

#include "census/modules.h"

enum { SPACE_MOST_MAPPINGS = 8192 };

struct space_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset; /* of `start`, in the file */
    int module;
};

struct space {
    struct space_mapping *mapping; /* by address; none overlap */
    size_t count;
    size_t room;
    unsigned users; /* processes that have it: a child has its parent's until it maps something */
};

struct spaces {
    struct space **of_process; /* NULL: not known */
    struct modules modules;
};

/* 0 or -ENOMEM. */
int spaces_open(struct spaces *spaces);
void spaces_close(struct spaces *spaces);

/* What the process has mapped already, as /proc tells; forgets what was known. Whether that could be read. */
bool spaces_read(struct spaces *spaces, pid_t process);

/* It begins with nothing: another program. */
void spaces_begin(struct spaces *spaces, pid_t process);

/* Only of processes that are known. `path` is as the kernel writes it. */
void spaces_map(struct spaces *spaces, pid_t process, uint64_t start, uint64_t bytes, uint64_t offset,
                const char *path, const struct module_identity *identity);

/* A child of a process that is known. */
void spaces_fork(struct spaces *spaces, pid_t parent, pid_t child);

void spaces_leave(struct spaces *spaces, pid_t process);

/* NULL where it is not known. */
const struct space *spaces_of(const struct spaces *spaces, pid_t process);

/* The module's address of an address in that process; 0: no code is there. */
uint64_t spaces_address(const struct spaces *spaces, const struct space *space, uint64_t address);

#endif
