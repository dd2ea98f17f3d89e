#include "census/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

/* Headers older than the kernel lack them. */
enum {
    CALL_OPENAT2 = 437,
    NO_MAGIC_LINKS = 2 /* RESOLVE_NO_MAGICLINKS */,
    IN_ROOT = 16 /* RESOLVE_IN_ROOT */
};

struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

/* All is opened by openat: open is also libdw's (libdw_files.c), which comes here. */
static int open_path(int folder, const char *path, int flags) {
    int file = openat(folder, path, flags | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

/* Where openat2 is missing, or a filter refuses it. */
static int find_by_name(pid_t process, const char *path, bool follow) {
    char within[MOST_PATH + 32];
    snprintf(within, sizeof within, "/proc/%d/root%s", (int)process, path);
    return open_path(AT_FDCWD, process != 0 ? within : path, O_PATH | (follow ? 0 : O_NOFOLLOW));
}

/* A descriptor that stands for what has this name, and by which nothing was opened yet. */
static int find(pid_t process, const char *path, bool follow) {
    char root[32];
    struct how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), .resolve = NO_MAGIC_LINKS};
    int folder = AT_FDCWD;
    if (process != 0) {
        snprintf(root, sizeof root, "/proc/%d/root", (int)process);
        folder = open_path(AT_FDCWD, root, O_PATH | O_DIRECTORY);
        if (folder < 0) {
            return folder;
        }
        how.resolve |= IN_ROOT;
    }
    long place = syscall(CALL_OPENAT2, folder, path, &how, sizeof how);
    int error = place < 0 ? -errno : 0;
    if (folder >= 0) {
        close(folder);
    }
    if (error == -ENOSYS || error == -EPERM) {
        return find_by_name(process, path, follow);
    }
    return error != 0 ? error : (int)place;
}

bool strangers_look(pid_t process, const char *path, struct stat *status) {
    int place = find(process, path, true);
    bool known = place >= 0 && fstat(place, status) == 0;
    if (place >= 0) {
        close(place);
    }
    return known;
}

int strangers_open(pid_t process, const char *path, bool follow) {
    char itself[32];
    struct stat status;
    int place = find(process, path, follow);
    if (place < 0) {
        return place;
    }
    int file = -ESTALE;
    if (fstat(place, &status) == 0 && S_ISREG(status.st_mode)) {
        snprintf(itself, sizeof itself, "/proc/self/fd/%d", place);
        file = open_path(AT_FDCWD, itself, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    }
    close(place);
    return file;
}
