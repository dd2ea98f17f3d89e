/* A made /proc and /sys for tests: what reads them takes a root that is put before every path. */
#ifndef CLONOMETER_TREE_H
#define CLONOMETER_TREE_H

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { TREE_PATH_BYTES = 512, TREE_OPEN_FOLDERS = 16 };

static char root[] = "/tmp/tree-of-a-test-XXXXXX";

static inline void tree_begin(void) {
    CHECK(mkdtemp(root) != NULL, "no folder %s", root);
}

/* Writes a file, and makes the folders above it; `path` begins with a slash. */
static inline void put(const char *path, const char *text) {
    char full[TREE_PATH_BYTES];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(full, S_IRWXU);
            *at = '/';
        }
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL, "%s", full);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0, "%s", full);
}

static inline void drop(const char *path) {
    char full[TREE_PATH_BYTES];
    snprintf(full, sizeof full, "%s%s", root, path);
    CHECK(unlink(full) == 0, "%s", full);
}

static inline int tree_remove_one(const char *path, const struct stat *facts, int type, struct FTW *place) {
    (void)facts;
    (void)type;
    (void)place;
    return remove(path);
}

static inline void tree_end(void) {
    CHECK(nftw(root, tree_remove_one, TREE_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0, "%s is left", root);
}

#endif
