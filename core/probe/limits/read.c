#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "probe/limits/checks.h"

int64_t limits_number_after(const char *text, const char *key) {
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            return strtoll(line + length, NULL, 10);
        }
    }
    return -1;
}

int64_t limits_read_number(const char *root, const char *path) {
    char full[LIMITS_PATH_BYTES];
    char text[64];
    snprintf(full, sizeof full, "%s%s", root, path);
    if (sys_read_file(full, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9') {
        return -1;
    }
    return strtoll(text, NULL, 10);
}

bool limits_has_capability(const char *root, int number) {
    static const char KEY[] = "CapEff:\t";
    char path[LIMITS_PATH_BYTES];
    char text[LIMITS_FILE_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    const char *at = sys_read_file(path, text, sizeof text) > 0 ? strstr(text, KEY) : NULL;
    return at != NULL && ((strtoull(at + sizeof KEY - 1, NULL, 16) >> number) & 1U) != 0;
}

/* The path of this task in the hierarchy of `key`; empty where it is not named. */
static void group_path(const char *cgroups, const char *key, char *path, size_t capacity) {
    path[0] = '\0';
    size_t length = strlen(key);
    for (const char *line = cgroups; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *names = strchr(line, ':');
        const char *at = names != NULL ? strchr(names + 1, ':') : NULL;
        if (at == NULL || (size_t)(at - names - 1) != length || strncmp(names + 1, key, length) != 0) {
            continue;
        }
        snprintf(path, capacity, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        return;
    }
}

int64_t limits_group_room(const char *root, const char *cgroups, const struct limits_group *group,
                          char *where, size_t capacity) {
    char path[LIMITS_PATH_BYTES / 2];
    int64_t room = INT64_MAX;
    group_path(cgroups, group->key, path, sizeof path);
    for (;;) {
        char file[LIMITS_PATH_BYTES];
        snprintf(file, sizeof file, "%s%s/%s", group->base, path, group->limit);
        int64_t limit = limits_read_number(root, file);
        if (limit >= 0 && limit < INT64_MAX / 2) {
            char used_file[LIMITS_PATH_BYTES];
            snprintf(used_file, sizeof used_file, "%s%s/%s", group->base, path, group->usage);
            int64_t used = limits_read_number(root, used_file);
            int64_t left = limit - (used > 0 ? used : 0);
            if (left < room) {
                room = left;
                snprintf(where, capacity, "%s (%" PRId64 ")", file, limit);
            }
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return room;
        }
        *slash = '\0';
    }
}
