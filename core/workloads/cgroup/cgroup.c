#include "workloads/cgroup/cgroup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

enum { TEXT_BYTES = 16384 };

/* The value of the field that starts after `count` spaces of a line. */
static const char *field_after(const char *line, int count) {
    for (; line != NULL && count > 0; count--) {
        line = strchr(line, ' ');
        line += line != NULL;
    }
    return line;
}

/* A hierarchy: where it is mounted, and which of its groups is the mount's root. */
struct hierarchy {
    char mount[CGROUP_PATH_BYTES];
    char top[CGROUP_PATH_BYTES];
};

/* Version 1's of a controller, or version 2's. */
static int find_mount(const char *root, const char *controller, struct hierarchy *hierarchy) {
    char path[sizeof hierarchy->mount];
    char text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    if (sys_read_file(path, text, sizeof text) <= 0) {
        return -ENOENT;
    }
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        const char *type = strstr(line, " - ");
        const char *top = field_after(line, 3);
        const char *where = field_after(line, 4);
        if (type == NULL || top == NULL || where == NULL) {
            continue;
        }
        bool wanted = controller != NULL
                          ? strncmp(type + 3, "cgroup ", 7) == 0 && strstr(type, controller) != NULL
                          : strncmp(type + 3, "cgroup2 ", 8) == 0;
        if (wanted) {
            snprintf(hierarchy->mount, sizeof hierarchy->mount, "%s%.*s", root, (int)strcspn(where, " "),
                     where);
            snprintf(hierarchy->top, sizeof hierarchy->top, "%.*s", (int)strcspn(top, " "), top);
            return 0;
        }
    }
    return -ENOENT;
}

/* A container that sees the whole machine's names may have its own group mounted as the root of all. */
static const char *below_top(const char *name, const char *top) {
    size_t length = strlen(top);
    bool inside =
        length > 1 && strncmp(name, top, length) == 0 && (name[length] == '/' || name[length] == '\0');
    name += inside ? length : 0;
    return strcmp(name, "/") == 0 ? "" : name;
}

int cgroup_own(const char *root, const char *controller, char path[CGROUP_PATH_BYTES]) {
    struct hierarchy hierarchy;
    char text[TEXT_BYTES];
    int error = find_mount(root, controller, &hierarchy);
    snprintf(path, CGROUP_PATH_BYTES, "%s/proc/self/cgroup", root);
    if (error != 0 || sys_read_file(path, text, sizeof text) <= 0) {
        return error != 0 ? error : -ENOENT;
    }
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char *names = strchr(line, ':');
        char *name = names != NULL ? strchr(names + 1, ':') : NULL;
        if (name == NULL) {
            continue;
        }
        *name++ = '\0';
        bool matches = controller != NULL ? strstr(names, controller) != NULL : strcmp(line, "0:") == 0;
        int length = matches ? snprintf(path, CGROUP_PATH_BYTES, "%s%s", hierarchy.mount,
                                        below_top(name, hierarchy.top))
                             : 0;
        if (matches) {
            return length > 0 && length < CGROUP_PATH_BYTES ? 0 : -ENAMETOOLONG;
        }
    }
    return -ENOENT;
}

int cgroup_name(const char *directory, char path[CGROUP_PATH_BYTES]) {
    int length = snprintf(path, CGROUP_PATH_BYTES, "%s/clonometer.%d", directory, (int)getpid());
    return length > 0 && length < CGROUP_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

int cgroup_make(const char *directory, char path[CGROUP_PATH_BYTES]) {
    int error = cgroup_name(directory, path);
    return error != 0 || mkdir(path, S_IRWXU) == 0 ? error : -errno;
}
