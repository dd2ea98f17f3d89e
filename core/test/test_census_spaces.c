/* What processes have mapped is followed through fork and exec, and addresses of one file are those of one
 * module wherever it is mapped. */
#include <unistd.h>

#include "census/spaces.h"
#include "check.h"

enum { PARENT = 10, CHILD = 11, OTHER = 12 };

static const struct module_identity SOME = {.number = 0};

static const char *path_at(const struct spaces *spaces, pid_t process, uint64_t address) {
    const struct space *space = spaces_of(spaces, process);
    uint64_t place = space != NULL ? spaces_address(spaces, space, address) : 0;
    const struct module *module = place != 0 ? modules_at(&spaces->modules, place) : NULL;
    return module != NULL ? module->path : "nothing";
}

/* Files that are not there have a module all the same: it says why it cannot be read. */
static void check_mappings(void) {
    struct spaces spaces;
    CHECK(spaces_open(&spaces) == 0, "opened");
    spaces_map(&spaces, PARENT, 0x10000, 0x1000, 0, "/no/stranger", &SOME);
    CHECK(spaces_of(&spaces, PARENT) == NULL, "of strangers nothing");
    spaces_begin(&spaces, PARENT);
    spaces_map(&spaces, PARENT, 0x10000, 0x4000, 0x1000, "/no/a", &SOME);
    spaces_map(&spaces, PARENT, 0x20000, 0x1000, 0, "/no/b", &SOME);
    spaces_map(&spaces, PARENT, 0x30000, 0x1000, 0, "[vdso]", &SOME);
    CHECK(strcmp(path_at(&spaces, PARENT, 0x10fff), "/no/a") == 0, "its beginning");
    CHECK(strcmp(path_at(&spaces, PARENT, 0x14000), "nothing") == 0, "behind its end");
    CHECK(strcmp(path_at(&spaces, PARENT, 0x30000), "nothing") == 0, "the kernel's own");
    /* Something else in the middle of it. */
    spaces_map(&spaces, PARENT, 0x11000, 0x1000, 0, "/no/c", &SOME);
    CHECK(strcmp(path_at(&spaces, PARENT, 0x10800), "/no/a") == 0, "what is left of it before");
    CHECK(strcmp(path_at(&spaces, PARENT, 0x11800), "/no/c") == 0, "the new one");
    const struct space *space = spaces_of(&spaces, PARENT);
    CHECK(strcmp(path_at(&spaces, PARENT, 0x12800), "/no/a") == 0, "what is left of it behind");
    CHECK(spaces_address(&spaces, space, 0x12800) - spaces_address(&spaces, space, 0x10800) == 0x2000,
          "at the same place in the file as before");
    spaces_fork(&spaces, PARENT, CHILD);
    spaces_map(&spaces, CHILD, 0x20000, 0x1000, 0, "/no/d", &SOME);
    CHECK(strcmp(path_at(&spaces, CHILD, 0x20000), "/no/d") == 0, "the child's");
    CHECK(strcmp(path_at(&spaces, PARENT, 0x20000), "/no/b") == 0, "is not the parent's");
    CHECK(strcmp(path_at(&spaces, CHILD, 0x10000), "/no/a") == 0, "which it has the rest of");
    spaces_begin(&spaces, CHILD);
    CHECK(strcmp(path_at(&spaces, CHILD, 0x10000), "nothing") == 0, "another program");
    spaces_leave(&spaces, PARENT);
    CHECK(spaces_of(&spaces, PARENT) == NULL, "gone");
    spaces_close(&spaces);
}

static void check_modules(void) {
    struct spaces spaces;
    CHECK(spaces_open(&spaces) == 0, "opened");
    spaces_begin(&spaces, PARENT);
    spaces_begin(&spaces, OTHER);
    spaces_map(&spaces, PARENT, 0x10000, 0x1000, 0x2000, "/no/a", &SOME);
    spaces_map(&spaces, OTHER, 0x70000, 0x1000, 0x2000, "/no/a", &SOME);
    CHECK(spaces_address(&spaces, spaces_of(&spaces, PARENT), 0x10010) ==
              spaces_address(&spaces, spaces_of(&spaces, OTHER), 0x70010),
          "one place of one file");
    const struct module_identity newer = {.number = 7};
    spaces_map(&spaces, OTHER, 0x70000, 0x1000, 0x2000, "/no/a", &newer);
    CHECK(spaces_address(&spaces, spaces_of(&spaces, PARENT), 0x10010) !=
              spaces_address(&spaces, spaces_of(&spaces, OTHER), 0x70010),
          "another file of that name");
    spaces_map(&spaces, PARENT, 0x90000, 0x1000, 0, "//anon", &SOME);
    spaces_map(&spaces, OTHER, 0x90000, 0x1000, 0, "//anon", &SOME);
    uint64_t code = spaces_address(&spaces, spaces_of(&spaces, PARENT), 0x90010);
    CHECK(code != 0 && code != spaces_address(&spaces, spaces_of(&spaces, OTHER), 0x90010),
          "code that is in no file is each process's");
    const struct module *module = modules_at(&spaces.modules, code);
    CHECK(module != NULL && module->process == PARENT && code - module->base == 0x90010, "at its address");
    CHECK(modules_at(&spaces.modules, 0x10010) == NULL, "no address of a process is one of a module");
    spaces_close(&spaces);
}

static void check_own(void) {
    struct spaces spaces;
    char program[1024] = "";
    CHECK(spaces_open(&spaces) == 0, "opened");
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "who am I");
    CHECK(spaces_read(&spaces, getpid()), "read");
    const char *path = path_at(&spaces, getpid(), (uint64_t)(uintptr_t)&check_own);
    CHECK(strcmp(path, program) == 0, "%s is in %s", program, path);
    CHECK(!spaces_read(&spaces, 1 << 21), "nobody");
    spaces_close(&spaces);
}

int main(void) {
    check_mappings();
    check_modules();
    check_own();
    return 0;
}
