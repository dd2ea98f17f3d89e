/* Open files, and the limit of them. They are closed by an exec, as those of well-behaved programs are. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/parent/parts.h"

enum { MOST_CLOSED_EACH = 10000000 };

/* Sets the soft limit of descriptors; the hard one is raised where that is permitted. */
static int set_limit(int64_t wanted, struct reason *reason) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return reason_set(reason, -errno, "RLIMIT_NOFILE cannot be read: %s", strerror(errno));
    }
    rlim_t hard = limit.rlim_max;
    limit.rlim_cur = (rlim_t)wanted;
    limit.rlim_max = hard < limit.rlim_cur ? limit.rlim_cur : hard;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) {
        return 0;
    }
    return reason_set(
        reason, -errno,
        "needs a limit of %lld open files, but RLIMIT_NOFILE is %llu and may not be raised: %s; "
        "raise it with ulimit -Hn, as root or in /etc/security/limits.conf",
        (long long)wanted, (unsigned long long)hard, strerror(errno));
}

static int open_all(const struct request *request) {
    int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int64_t i = 1; first >= 0 && i < request->open_files; i++) {
        int fd = request->file_kind == FILE_SAME ? fcntl(first, F_DUPFD_CLOEXEC, first)
                                                 : open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            return -errno;
        }
    }
    return first < 0 ? -errno : 0;
}

int parent_files_raise(int64_t files, struct reason *reason) {
    struct rlimit limit;
    int64_t wanted = files + LIMITS_OWN_DESCRIPTORS;
    bool enough = getrlimit(RLIMIT_NOFILE, &limit) == 0 && (int64_t)limit.rlim_cur >= wanted;
    return files == 0 || enough ? 0 : set_limit(wanted, reason);
}

int parent_files_build(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    if (request->open_files == 0) {
        return 0;
    }
    int error = parent_files_raise(request->open_files, reason);
    if (error != 0) {
        return error;
    }
    error = open_all(request);
    return error == 0 ? 0
                      : reason_set(reason, error, "%lld files cannot be opened: %s",
                                   (long long)request->open_files, strerror(-error));
}

int parent_files_limit(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    if (request->nofile > 0 && request->nofile < request->open_files + LIMITS_OWN_DESCRIPTORS) {
        return reason_set(reason, -EOPNOTSUPP,
                          "nofile=%lld leaves no room for open_files=%lld and %d of the probe's own",
                          (long long)request->nofile, (long long)request->open_files, LIMITS_OWN_DESCRIPTORS);
    }
    int error = request->nofile > 0 ? set_limit(request->nofile, reason) : 0;
    struct rlimit limit;
    if (error == 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return reason_set(reason, -errno, "RLIMIT_NOFILE cannot be read: %s", strerror(errno));
    }
    if (error == 0 && request->close_files == CLOSE_EACH && limit.rlim_cur > MOST_CLOSED_EACH) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "closing each of %llu descriptors (RLIMIT_NOFILE) would take too long; set nofile to "
            "at most %d",
            (unsigned long long)limit.rlim_cur, MOST_CLOSED_EACH);
    }
    bench->parent.descriptors = error == 0 ? (int64_t)limit.rlim_cur : 0;
    return error;
}

int parent_close_files_available(int64_t how, struct reason *reason) {
    /* A range that is always empty. */
    int error = how == CLOSE_RANGE ? sys_close_range(~0U, ~0U) : 0;
    return error == 0
               ? 0
               : reason_set(reason, error, "close_range: %s; it came with Linux 5.9", strerror(-error));
}

void parent_close_files(const struct bench *bench, int kept) {
    if (bench->request->close_files == CLOSE_RANGE) {
        if (kept > STDERR_FILENO + 1) {
            (void)sys_close_range(STDERR_FILENO + 1, (unsigned)kept - 1);
        }
        (void)sys_close_range(kept > STDERR_FILENO ? (unsigned)kept + 1 : STDERR_FILENO + 1, ~0U);
        return;
    }
    for (int fd = STDERR_FILENO + 1; fd < (int)bench->parent.descriptors; fd++) {
        if (fd != kept) {
            close(fd);
        }
    }
}
