/* However many files are mapped, each is found by its name and identity, and few of them stay open; those
 * that are let go can be unwound by all the same. */
#include <dirent.h>

#include "census/unwind.h"
#include "tree.h"

enum { FILES = 2 * MODULES_MOST_OPEN + 20, SPARE = 40, CODES = 300 };

/* The sanitizer that looks for leaks misreads the memory of threads of libraries that are opened so late. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

static size_t open_files(void) {
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL, "no /proc");
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static const char *name_of(int number) {
    static char path[TREE_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%d", root, number);
    return path;
}

/* The file of this program, by many names. */
static void make_files(void) {
    char program[TREE_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    CHECK(length > 0, "no program");
    program[length] = '\0';
    char command[2 * TREE_PATH_BYTES + 16];
    snprintf(command, sizeof command, "cp %s %s", program, name_of(0));
    CHECK(system(command) == 0, "%s", command);
    for (int i = 1; i < FILES; i++) {
        char first[TREE_PATH_BYTES];
        snprintf(first, sizeof first, "%s", name_of(0));
        CHECK(link(first, name_of(i)) == 0, "%s", name_of(i));
    }
}

static void map_all(struct spaces *spaces, struct unwinder *unwinder) {
    size_t before = open_files();
    struct stat status;
    CHECK(stat(name_of(0), &status) == 0, "no file");
    const struct module_identity identity = {.number = status.st_ino};
    spaces_begin(spaces, getpid());
    for (int i = 0; i < FILES; i++) {
        spaces_map(spaces, getpid(), 0x10000, 0x1000, 0, name_of(i), &identity);
        unwinder_meet(unwinder);
        size_t now = open_files();
        CHECK(now <= before + MODULES_MOST_OPEN + SPARE, "%zu are open after %d", now - before, i);
    }
    CHECK(spaces->modules.count == FILES, "each once");
    for (int i = 0; i < FILES; i++) {
        CHECK(spaces->modules.module[i].error == 0, "%d: %d", i, spaces->modules.module[i].error);
        CHECK(modules_of_file(&spaces->modules, name_of(i), &identity, getpid()) == i, "file %d again", i);
    }
    if (unwinder->session != NULL) {
        CHECK(unwinder_module(unwinder, &spaces->modules.module[0]) != NULL, "the first one is known");
        CHECK(unwinder_module(unwinder, &spaces->modules.module[FILES - 1]) != NULL, "and the last one");
        CHECK(open_files() <= before + SPARE, "what libdw knows is closed");
    }
}

/* The same name of another file is another module, and so is the code of another process. */
static void check_identities(struct modules *modules) {
    struct module_identity identity = {.device = 1, .number = 2};
    int first = modules_of_file(modules, "/nowhere", &identity, 0);
    identity.number = 3;
    int second = modules_of_file(modules, "/nowhere", &identity, 0);
    identity = (struct module_identity){.build_id = {7}, .build_id_bytes = 1};
    int third = modules_of_file(modules, "/nowhere", &identity, 0);
    CHECK(first != second && second != third && first != third, "three files");
    CHECK(modules_of_file(modules, "/nowhere", &identity, 0) == third, "the third again");
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < CODES; i++) {
            identity = (struct module_identity){.number = 1000 + (uint64_t)i};
            int place = modules_of_file(modules, "/nowhere", &identity, 0);
            CHECK(place == third + 1 + 2 * i, "file %d", i);
            CHECK(modules_of_code(modules, i + 1) == place + 1, "code %d", i);
        }
    }
}

static void check(bool by_tables) {
    struct spaces spaces;
    struct unwinder unwinder;
    struct reason reason = {""};
    CHECK(spaces_open(&spaces) == 0 && unwinder_open(&unwinder, &spaces, &reason) == 0, "no memory");
    if (!by_tables) {
        unwinder_close(&unwinder);
    }
    map_all(&spaces, &unwinder);
    check_identities(&spaces.modules);
    unwinder_close(&unwinder);
    spaces_close(&spaces);
}

int main(void) {
    tree_begin();
    make_files();
    check(true);
    check(false);
    tree_end();
    return 0;
}
