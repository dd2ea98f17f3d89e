/* What /proc says of control groups and of mounts: a stranger's text, since a container's host writes it. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "probe/limits/checks.h"
#include "workloads/cgroup/cgroup.h"

enum { MOST_TEXT = 16384 };

static char root[64];

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/proc/self/%s", root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    size_t length = strlen(text);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length) {
        abort();
    }
    close(fd);
}

static void remove_root(void) {
    static const char *const NAMES[] = {
        "/proc/self/mountinfo", "/proc/self/cgroup", "/proc/self/status", "/proc/self", "/proc", ""};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", root, NAMES[i]);
        (void)remove(path);
    }
}

static void make_root(void) {
    char path[128];
    snprintf(root, sizeof root, "%s", "/tmp/clonometer-fuzz.XXXXXX");
    if (mkdtemp(root) == NULL) {
        abort();
    }
    snprintf(path, sizeof path, "%s/proc", root);
    if (mkdir(path, S_IRWXU) != 0) {
        abort();
    }
    snprintf(path, sizeof path, "%s/proc/self", root);
    if (mkdir(path, S_IRWXU) != 0) {
        abort();
    }
    atexit(remove_root);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const struct limits_group GROUP = {
        .key = "memory", .base = "/nowhere", .limit = "limit", .usage = "usage"};
    static const char *const CONTROLLERS[] = {NULL, "memory", "pids"};
    struct input input = {bytes, length};
    char path[CGROUP_PATH_BYTES];
    char where[LIMITS_PATH_BYTES];
    if (root[0] == '\0') {
        make_root();
    }
    const char *controller = CONTROLLERS[input_number(&input, 1) % 3];
    char *mounts = input_text(&input, MOST_TEXT);
    char *groups = input_text(&input, MOST_TEXT);
    char *status = input_text(&input, MOST_TEXT);
    write_file("mountinfo", mounts);
    write_file("cgroup", groups);
    write_file("status", status);
    if (cgroup_own(root, controller, path) == 0 && memchr(path, 0, sizeof path) == NULL) {
        abort();
    }
    (void)limits_group_room(root, groups, &GROUP, where, sizeof where);
    (void)limits_has_capability(root, LIMITS_CAP_IPC_LOCK);
    (void)limits_number_after(status, "CapEff:");
    free(mounts);
    free(groups);
    free(status);
    return 0;
}
