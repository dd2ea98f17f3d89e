/* fsopen and fsmount (Linux 5.2) give a descriptor of a mount that is in no namespace. Where they are not to
 * be had, a task that shares our descriptors mounts tracefs in a namespace of its own, opens it for us and
 * ends: the mount stays as long as the descriptor. Either takes CAP_SYS_ADMIN outside of any user namespace.
 * Source: fsopen(2), fsmount(2), unshare(2); fs/namespace.c, where put_mnt_ns() detaches what is still open.
 * What is traced gets no such descriptor (close-on-exec) and stays in the namespace that it has. */
#include "events/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "events/lockdown.h"

/* By number, since headers older than the kernel lack them; they are the same everywhere. */
enum {
    CALL_FSOPEN = 430,
    CALL_FSCONFIG = 431,
    CALL_FSMOUNT = 432,
    CLOSE_ON_EXEC = 1, /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */
    CONFIG_CREATE = 6, /* FSCONFIG_CMD_CREATE */
    ATTRIBUTES = 0xf,  /* MOUNT_ATTR_RDONLY | NOSUID | NODEV | NOEXEC */
};

enum { PATH_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

static const char USUAL_PLACE[] = "/sys/kernel/tracing";
/* Has long been deprecated, and to look for it may mount it for all to see: only where nothing else is left.
 */
static const char OLD_PLACE[] = "/sys/kernel/debug/tracing";

static struct {
    bool looked;
    int folder;    /* -errno where there is none */
    int usual;     /* the same of where it is usually mounted */
    int own_mount; /* and of a mount of our own */
} places;

/* Whether it is one, and may be read: an empty folder is where one could be mounted. */
static int usable(int folder) {
    return faccessat(folder, "events/sched", R_OK | X_OK, AT_EACCESS) == 0 ? folder : -errno;
}

static int look_at(const char *place) {
    int folder = open(place, PATH_FLAGS);
    if (folder < 0) {
        return -errno;
    }
    int error = usable(folder);
    if (error < 0) {
        close(folder);
    }
    return error;
}

static int mount_nowhere(void) {
    long context = syscall(CALL_FSOPEN, "tracefs", (long)CLOSE_ON_EXEC);
    if (context < 0) {
        return -errno;
    }
    long folder = syscall(CALL_FSCONFIG, context, (long)CONFIG_CREATE, NULL, NULL, 0L);
    folder = folder == 0 ? syscall(CALL_FSMOUNT, context, (long)CLOSE_ON_EXEC, (long)ATTRIBUTES) : folder;
    int error = -errno;
    close((int)context);
    return folder < 0 ? error : (int)folder;
}

/* In a task of its own, which has our descriptors. The status to end with. */
static int mount_for(int folder) {
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tracefs", USUAL_PLACE, "tracefs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        return errno;
    }
    int mounted = open(USUAL_PLACE, PATH_FLAGS);
    /* In the place of the descriptor that our creator knows. */
    return mounted < 0 || dup3(mounted, folder, O_CLOEXEC) < 0 || close(mounted) != 0 ? errno : 0;
}

static int mount_in_a_namespace(void) {
    int status = 0;
    int folder = open("/", PATH_FLAGS);
    if (folder < 0) {
        return -errno;
    }
    /* As fork, but for the descriptors; the order of the other arguments differs between architectures. */
    pid_t pid = (pid_t)syscall(SYS_clone, (long)(CLONE_FILES | SIGCHLD), 0L, 0L, 0L, 0L);
    if (pid == 0) {
        _exit(mount_for(folder));
    }
    int error = pid < 0 ? -errno : sys_wait(pid, &status);
    if (error == 0) {
        error = WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
    }
    if (error != 0) {
        close(folder);
        return error;
    }
    return folder;
}

static int mount_own(void) {
    int folder = mount_nowhere();
    /* No such filesystem is not helped by a namespace. */
    if (folder < 0 && folder != -ENODEV) {
        folder = mount_in_a_namespace();
    }
    int error = folder < 0 ? folder : usable(folder);
    if (folder >= 0 && error < 0) {
        close(folder);
    }
    return error;
}

static int folder(void) {
    if (!places.looked) {
        places.looked = true;
        places.folder = places.usual = look_at(USUAL_PLACE);
        places.folder = places.own_mount = places.folder >= 0 ? places.folder : mount_own();
        places.folder = places.folder >= 0 ? places.folder : look_at(OLD_PLACE);
    }
    return places.folder;
}

long tracefs_read(const char *tracepoint, const char *name, char *text, size_t capacity) {
    char path[160];
    if (folder() < 0) {
        return -ENOENT;
    }
    snprintf(path, sizeof path, "events/%s/%s", tracepoint, name);
    return sys_read_file_at(folder(), path, text, capacity);
}

bool tracefs_missing(struct reason *reason) {
    char locked[64];
    if (folder() >= 0) {
        return false;
    }
    lockdown_here(locked, sizeof locked);
    if (places.own_mount == -ENODEV) {
        reason_set(reason, -ENOENT, "this kernel has no tracefs: it needs CONFIG_FTRACE");
    } else if (geteuid() != 0) {
        reason_set(reason, -ENOENT, "%s%s: run it as root",
                   places.usual == -EACCES ? "tracefs may not be read by this user"
                                           : "tracefs is not mounted, and only root may mount it",
                   locked);
    } else {
        reason_set(reason, -ENOENT,
                   "tracefs is not mounted, and a private mount is refused (%s%s), as in a container or by a "
                   "seccomp filter: mount it from outside, mount -t tracefs tracefs %s",
                   strerror(-places.own_mount), locked, USUAL_PLACE);
    }
    return true;
}
