/* What a call's arguments point to: texts, lists of texts, structures whose length the caller gives. */
#include <sys/syscall.h>

#include "check.h"
#include "tracer/pointed.h"

int main(void) {
    struct pointed pointed[POINTED_MOST];
    const uint64_t some[6] = {0x1000, 0x2000, 0x3000, 0, 0, 0};
    CHECK(pointed_at(SYS_execve, some, pointed) == 2, "its file and its words");
    CHECK(pointed[0].argument == 0 && pointed[0].kind == POINTED_TEXT, "the file");
    CHECK(pointed[1].argument == 1 && pointed[1].kind == POINTED_TEXTS, "the words");
    const uint64_t no_words[6] = {0x1000, 0, 0, 0, 0, 0};
    CHECK(pointed_at(SYS_execve, no_words, pointed) == 1 && pointed[0].argument == 0,
          "an address of nothing");
    const uint64_t clone3[6] = {0x1000, 64, 0, 0, 0, 0};
    CHECK(pointed_at(SYS_clone3, clone3, pointed) == 1 && pointed[0].bytes == 64, "an old structure");
    const uint64_t longer[6] = {0x1000, 1 << 20, 0, 0, 0, 0};
    CHECK(pointed_at(SYS_clone3, longer, pointed) == 1 && pointed[0].bytes == POINTED_CLONE3_BYTES,
          "bounded");
    const uint64_t empty[6] = {0x1000, 0, 0, 0, 0, 0};
    CHECK(pointed_at(SYS_clone3, empty, pointed) == 0, "no structure");
    const uint64_t at[6] = {(uint64_t)-100, 0x2000, 0, 0, 0, 0};
    CHECK(pointed_at(SYS_openat, at, pointed) == 1 && pointed[0].argument == 1, "a path");
    CHECK(pointed_at(SYS_munmap, some, pointed) == 0, "addresses that nobody reads");
    return 0;
}
