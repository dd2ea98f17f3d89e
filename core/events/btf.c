#include "events/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, STEP_BYTES = 1 << 20, MOST_DEPTH = 8, BITS_OF_BYTE = 8 };
/* Kinds that headers of Linux before 6.0 lack. */
enum { KIND_DECL_TAG = 17, KIND_ENUM64 = 19, KIND_LAST = 19 };

struct type {
    const struct btf_type *head;
    const unsigned char *more; /* what follows it: members, for example */
    size_t bytes;              /* of both; 0: it is none */
};

/* How many bytes follow a type of a kind. */
static size_t more_bytes(const struct btf_type *head) {
    size_t count = BTF_INFO_VLEN(head->info);
    switch (BTF_INFO_KIND(head->info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case KIND_DECL_TAG:
        return sizeof(uint32_t);
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return count * sizeof(struct btf_member);
    case BTF_KIND_ENUM:
        return count * sizeof(struct btf_enum);
    case BTF_KIND_FUNC_PROTO:
        return count * sizeof(struct btf_param);
    case BTF_KIND_DATASEC:
        return count * sizeof(struct btf_var_secinfo);
    case KIND_ENUM64:
        return count * 3 * sizeof(uint32_t);
    default:
        return 0;
    }
}

/* The type that begins at a place. One that is cut, or of a kind whose length is not known, ends all. */
static struct type type_at(const struct btf *btf, size_t at) {
    struct type type = {.head = NULL};
    if (at + sizeof *type.head > btf->types_bytes) {
        return type;
    }
    type.head = (const struct btf_type *)(const void *)(btf->types + at);
    type.more = btf->types + at + sizeof *type.head;
    size_t bytes = sizeof *type.head + more_bytes(type.head);
    if (BTF_INFO_KIND(type.head->info) <= KIND_LAST && at + bytes <= btf->types_bytes) {
        type.bytes = bytes;
    }
    return type;
}

static const char *name_at(const struct btf *btf, uint32_t at) {
    return at < btf->strings_bytes ? btf->strings + at : "";
}

static struct type find(const struct btf *btf, unsigned kind, const char *name, int32_t *number) {
    *number = 1;
    for (size_t at = 0;; (*number)++) {
        struct type type = type_at(btf, at);
        if (type.bytes == 0 || (BTF_INFO_KIND(type.head->info) == kind &&
                                strcmp(name_at(btf, type.head->name_off), name) == 0)) {
            return type;
        }
        at += type.bytes;
    }
}

static struct type type_of(const struct btf *btf, uint32_t number) {
    struct type type = type_at(btf, 0);
    for (size_t at = 0; type.bytes > 0 && number > 1; number--) {
        at += type.bytes;
        type = type_at(btf, at);
    }
    return type;
}

/* Bits from the beginning of a structure, or -ENOENT. */
static int64_t find_member(const struct btf *btf, struct type structure, const char *name, int depth) {
    if (structure.bytes == 0 || depth == 0 ||
        (BTF_INFO_KIND(structure.head->info) != BTF_KIND_STRUCT &&
         BTF_INFO_KIND(structure.head->info) != BTF_KIND_UNION)) {
        return -ENOENT;
    }
    const struct btf_member *member = (const struct btf_member *)(const void *)structure.more;
    bool has_bits = BTF_INFO_KFLAG(structure.head->info) != 0;
    for (unsigned i = 0; i < BTF_INFO_VLEN(structure.head->info); i++, member++) {
        const char *its_name = name_at(btf, member->name_off);
        int64_t at = has_bits ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;
        if (strcmp(its_name, name) == 0) {
            bool is_bits = has_bits && BTF_MEMBER_BITFIELD_SIZE(member->offset) != 0;
            return is_bits ? -ENOENT : at;
        }
        int64_t within =
            its_name[0] == '\0' ? find_member(btf, type_of(btf, member->type), name, depth - 1) : -ENOENT;
        if (within >= 0) {
            return at + within;
        }
    }
    return -ENOENT;
}

int32_t btf_find(const struct btf *btf, unsigned kind, const char *name) {
    int32_t number = 0;
    return find(btf, kind, name, &number).bytes > 0 ? number : -ENOENT;
}

int64_t btf_member(const struct btf *btf, const char *structure, const char *member) {
    int32_t number = 0;
    int64_t bits = find_member(btf, find(btf, BTF_KIND_STRUCT, structure, &number), member, MOST_DEPTH);
    return bits < 0 || bits % BITS_OF_BYTE != 0 ? -ENOENT : bits / BITS_OF_BYTE;
}

int btf_read(struct btf *btf, unsigned char *data, size_t bytes) {
    const struct btf_header *header = (const struct btf_header *)(const void *)data;
    *btf = (struct btf){.data = data};
    bool is_whole = bytes >= sizeof *header && header->magic == BTF_MAGIC && header->version == 1 &&
                    header->hdr_len <= bytes && header->type_off % sizeof(uint32_t) == 0 &&
                    header->hdr_len % sizeof(uint32_t) == 0 &&
                    (uint64_t)header->hdr_len + header->type_off + header->type_len <= bytes &&
                    (uint64_t)header->hdr_len + header->str_off + header->str_len <= bytes &&
                    header->str_len > 0 && data[header->hdr_len + header->str_off + header->str_len - 1] == 0;
    if (!is_whole) {
        btf_close(btf);
        return -EINVAL;
    }
    btf->types = data + header->hdr_len + header->type_off;
    btf->types_bytes = header->type_len;
    btf->strings = (const char *)data + header->hdr_len + header->str_off;
    btf->strings_bytes = header->str_len;
    return 0;
}

int btf_open(struct btf *btf, const char *path) {
    *btf = (struct btf){.data = NULL};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    unsigned char *data = NULL;
    size_t bytes = 0;
    ssize_t got = 1;
    while (got > 0 && bytes < MOST_BYTES) {
        unsigned char *larger = realloc(data, bytes + STEP_BYTES);
        if (larger == NULL) {
            got = -1;
            errno = ENOMEM;
            break;
        }
        data = larger;
        got = read(fd, data + bytes, STEP_BYTES);
        bytes += got > 0 ? (size_t)got : 0;
    }
    int error = got < 0 ? -errno : 0;
    close(fd);
    if (error != 0) {
        free(data);
        return error;
    }
    return btf_read(btf, data, bytes);
}

void btf_close(struct btf *btf) {
    free(btf->data);
    *btf = (struct btf){.data = NULL};
}
