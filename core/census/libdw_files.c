/* What libdw opens by itself: files that a program's own file names as those with its debug data
 * (.gnu_debuglink, .gnu_debugaltlink, DW_AT_dwo_name), of which a stranger may have made a pipe or a link to
 * a device. While it works, open is ours for it as well: the program's symbols come before the C library's.
 */
#undef _FORTIFY_SOURCE /* which would have another open of its own */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "census/libdw.h"
#include "census/strangers.h"

static bool works;

void libdw_works(bool begins) {
    works = begins;
}

/* Then there is a third argument. */
static bool makes(int flags) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_named(const char *path, int flags, unsigned mode) {
    bool reads = (flags & O_ACCMODE) == O_RDONLY && (flags & (O_CREAT | O_DIRECTORY | O_PATH)) == 0;
    if (!works || !reads) {
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    int file = strangers_open(0, path, true);
    errno = file < 0 ? -file : errno;
    return file < 0 ? -1 : file;
}

#define OPENS(name)                                                                                          \
    __attribute__((visibility("default"))) int name(const char *path, int flags, ...) {                      \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        unsigned mode = makes(flags) ? va_arg(more, unsigned) : 0;                                           \
        va_end(more);                                                                                        \
        return open_named(path, flags, mode);                                                                \
    }

OPENS(open)
#ifdef __GLIBC__
OPENS(open64)
#endif
