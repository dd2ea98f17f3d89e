/* Names that just-in-time compilers write are found by address, and what is no such line is left alone. */
#include "census/code_names.h"

#include "check.h"

static struct code_names read_all(const char *text) {
    struct code_names names;
    char *copy = strdup(text);
    CHECK(copy != NULL && code_names_read(&names, copy) == 0, "memory");
    return names;
}

int main(void) {
    uint64_t plus = 0;
    struct code_names names = read_all("7f0000001000 100 JS:~start /srv/a.js:3:9\n"
                                       "no line\n7f00\n\n0x7f0000002000 0x20 LazyCompile:*go\n"
                                       "7f0000003000 0 nothing\nffffffffffffffff ffffffffffffffff end\n"
                                       "7f0000001080 10 later\n7f0000004000 10");
    const char *name = code_names_find(&names, 0x7f0000001010, &plus);
    CHECK(name != NULL && strcmp(name, "JS:~start /srv/a.js:3:9") == 0 && plus == 0x10, "within");
    name = code_names_find(&names, 0x7f0000002000, &plus);
    CHECK(name != NULL && strcmp(name, "LazyCompile:*go") == 0 && plus == 0, "at its beginning");
    name = code_names_find(&names, 0x7f0000001085, &plus);
    CHECK(name != NULL && strcmp(name, "later") == 0, "what was written last is there now");
    CHECK(code_names_find(&names, 0x7f0000001100, &plus) != name, "behind its end");
    code_names_free(&names);
    names = read_all("");
    CHECK(code_names_find(&names, 1, &plus) == NULL, "nothing");
    code_names_free(&names);
    CHECK(code_name(1 << 21, 0x1000, &plus) == NULL, "of nobody");
    return 0;
}
