/* Members of structures are found in BTF, and whatever a file has in it, nothing beyond it is read. */
#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>

#include "check.h"
#include "events/btf.h"

static const char STRINGS[] = "\0long\0inner\0last\0outer\0first\0bits\0named";
enum { LONG = 1, INNER = 6, LAST = 12, OUTER = 17, FIRST = 23, BITS = 29, NAMED = 34 };

struct file {
    struct btf_header header;
    struct {
        struct btf_type number;
        uint32_t encoding;
        struct btf_type hidden;
        struct btf_member within;
        struct btf_type outer;
        struct btf_member members[3];
        struct btf_type named;
    } types;
    char strings[sizeof STRINGS];
};

static uint32_t info(unsigned kind, unsigned count, bool flag) {
    return (uint32_t)flag << 31 | kind << 24 | count;
}

/* struct outer { long first; struct { long last; }; unsigned bits : 3; }, and a typedef. */
static struct file *new_file(void) {
    struct file *file = calloc(1, sizeof *file);
    CHECK(file != NULL, "memory");
    file->header = (struct btf_header){.magic = BTF_MAGIC,
                                       .version = 1,
                                       .hdr_len = sizeof file->header,
                                       .type_len = sizeof file->types,
                                       .str_off = sizeof file->types,
                                       .str_len = sizeof file->strings};
    file->types.number = (struct btf_type){.name_off = LONG, .info = info(BTF_KIND_INT, 0, false), .size = 8};
    file->types.hidden = (struct btf_type){.info = info(BTF_KIND_STRUCT, 1, false), .size = 8};
    file->types.within = (struct btf_member){.name_off = LAST, .type = 1};
    file->types.outer =
        (struct btf_type){.name_off = OUTER, .info = info(BTF_KIND_STRUCT, 3, true), .size = 24};
    file->types.members[0] = (struct btf_member){.name_off = FIRST, .type = 1};
    file->types.members[1] = (struct btf_member){.type = 2, .offset = 64};
    file->types.members[2] = (struct btf_member){.name_off = BITS, .type = 1, .offset = 3U << 24 | 128};
    file->types.named =
        (struct btf_type){.name_off = NAMED, .info = info(BTF_KIND_TYPEDEF, 0, false), .type = 3};
    memcpy(file->strings, STRINGS, sizeof STRINGS);
    return file;
}

static void check_found(void) {
    struct btf btf;
    CHECK(btf_read(&btf, (unsigned char *)new_file(), sizeof(struct file)) == 0, "read");
    CHECK(btf_member(&btf, "outer", "first") == 0, "the first");
    CHECK(btf_member(&btf, "outer", "last") == 8, "within one without a name");
    CHECK(btf_member(&btf, "outer", "bits") == -ENOENT, "bits have no place");
    CHECK(btf_member(&btf, "outer", "none") == -ENOENT && btf_member(&btf, "none", "first") == -ENOENT,
          "none");
    CHECK(btf_find(&btf, BTF_KIND_TYPEDEF, "named") == 4, "its number");
    CHECK(btf_find(&btf, BTF_KIND_STRUCT, "named") == -ENOENT, "of another kind");
    btf_close(&btf);
}

static void check_damaged(void) {
    struct btf btf;
    struct file *file = new_file();
    file->header.type_len += 1000;
    CHECK(btf_read(&btf, (unsigned char *)file, sizeof *file) == -EINVAL && btf.data == NULL, "too long");
    file = new_file();
    file->types.outer.info = info(BTF_KIND_STRUCT, 0xffff, true);
    CHECK(btf_read(&btf, (unsigned char *)file, sizeof *file) == 0, "read");
    CHECK(btf_member(&btf, "outer", "first") == -ENOENT, "its members are not all there");
    btf_close(&btf);
    file = new_file();
    file->types.members[1].type = 3;
    CHECK(btf_read(&btf, (unsigned char *)file, sizeof *file) == 0, "read");
    CHECK(btf_member(&btf, "outer", "none") == -ENOENT, "one that contains itself");
    btf_close(&btf);
    CHECK(btf_open(&btf, "/proc/self/status") == -EINVAL && btf_open(&btf, "/none") == -ENOENT, "no BTF");
}

int main(void) {
    struct btf btf;
    check_found();
    check_damaged();
    if (btf_open(&btf, BTF_OF_KERNEL) == 0) {
        CHECK(btf_member(&btf, "task_struct", "min_flt") > 0, "the kernel's own");
        btf_close(&btf);
    }
    return 0;
}
