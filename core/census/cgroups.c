#include "census/cgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sys.h"

enum { FIRST_ROOM = 64, TEXT_ROOM = 16384, DECIMAL = 10 };

int cgroups_open(struct cgroups *cgroups, const char *text, struct reason *reason) {
    static const ino_t FIRST = 0xeffffffbU;
    struct stat status;
    char *end = NULL;
    errno = 0;
    *cgroups = (struct cgroups){.hierarchy = strtoll(text, &end, DECIMAL)};
    if (end == text || *end != ':' || end[1] != '/' || errno != 0) {
        return reason_set(reason, -EINVAL, "cgroup=%s: not HIERARCHY:/PATH", text);
    }
    cgroups->within = strcmp(end + 1, "/") == 0 ? "" : end + 1;
    cgroups->in_namespace = stat("/proc/self/ns/cgroup", &status) == 0 && status.st_ino != FIRST;
    cgroups->path = calloc(CGROUPS_MOST, sizeof *cgroups->path);
    return cgroups->path != NULL ? 0 : -ENOMEM;
}

void cgroups_close(struct cgroups *cgroups) {
    for (size_t i = 0; i < cgroups->count; i++) {
        free(cgroups->path[i]);
    }
    free(cgroups->path);
    *cgroups = (struct cgroups){.path = NULL};
}

const char *cgroups_line(const char *text, int64_t hierarchy, size_t *length) {
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        char *controllers = NULL;
        long long number = strtoll(line, &controllers, DECIMAL);
        size_t whole = strcspn(line, "\n");
        const char *path = controllers != line && *controllers == ':'
                               ? memchr(controllers + 1, ':', whole - (size_t)(controllers + 1 - line))
                               : NULL;
        if (path != NULL && number == hierarchy) {
            *length = whole - (size_t)(path + 1 - line);
            return path + 1;
        }
    }
    return NULL;
}

/* A path begins with another where the other is a folder on its way: /a of /a/b, and not of /ab. */
static bool is_within(const char *path, size_t length, const char *within) {
    size_t most = strlen(within);
    return length >= most && memcmp(path, within, most) == 0 &&
           (length == most || most == 0 || path[most] == '/');
}

int32_t cgroups_number(struct cgroups *cgroups, const char *path, size_t length) {
    if (!is_within(path, length, cgroups->within)) {
        return CGROUP_OUTSIDE;
    }
    for (size_t i = 0; i < cgroups->count; i++) {
        if (strlen(cgroups->path[i]) == length && memcmp(cgroups->path[i], path, length) == 0) {
            return (int32_t)i;
        }
    }
    char *copy = cgroups->count < CGROUPS_MOST ? strndup(path, length) : NULL;
    if (copy == NULL) {
        cgroups->full = true;
        return CGROUP_UNKNOWN;
    }
    cgroups->path[cgroups->count] = copy;
    return (int32_t)cgroups->count++;
}

int32_t cgroups_of(struct cgroups *cgroups, pid_t task) {
    static char text[TEXT_ROOM];
    char path[64];
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)task);
    const char *line = task > 0 && sys_read_file(path, text, sizeof text) > 0
                           ? cgroups_line(text, cgroups->hierarchy, &length)
                           : NULL;
    return line != NULL ? cgroups_number(cgroups, line, length) : CGROUP_UNKNOWN;
}
