/* Where the kernel keeps what in its structures, as it describes them itself (/sys/kernel/btf/vmlinux, BTF).
 * Source: Documentation/bpf/btf.rst. */
#ifndef CLONOMETER_EVENTS_BTF_H
#define CLONOMETER_EVENTS_BTF_H

#include <stddef.h>
#include <stdint.h>

#define BTF_OF_KERNEL "/sys/kernel/btf/vmlinux"

struct btf {
    unsigned char *data; /* the file, which btf_close frees */
    const unsigned char *types;
    size_t types_bytes;
    const char *strings;
    size_t strings_bytes;
};

/* Reads a file, of at most 64 MiB. 0, -errno, or -EINVAL where it is no BTF. */
int btf_open(struct btf *btf, const char *path);

/* The same of a text in memory, of malloc, which is taken over. Pure. */
int btf_read(struct btf *btf, unsigned char *data, size_t bytes);
void btf_close(struct btf *btf);

/* The number of the first type of this kind (BTF_KIND_...) and name, or -ENOENT. */
int32_t btf_find(const struct btf *btf, unsigned kind, const char *name);

/* How many bytes into a structure a member begins, also one within unions and structures without names; or
 * -ENOENT. A bit field counts as not there. */
int64_t btf_member(const struct btf *btf, const char *structure, const char *member);

#endif
