/* The parts of the parent's condition; parent.c puts them together. Each returns 0, or -errno with the
 * reason. */
#ifndef CLONOMETER_PARENT_PARTS_H
#define CLONOMETER_PARENT_PARTS_H

#include "probe/parent/parent.h"

enum { PARENT_THREAD_STACK_BYTES = 64 << 10 };

/* What the kernel says of the VMAs of a range of addresses, all together. */
struct parent_region {
    int64_t rss_bytes;
    int64_t anonymous_bytes;
    int64_t huge_bytes; /* anonymous, shared or of files: mapped by one entry for a whole huge page */
    int64_t hugetlb_bytes;
    int64_t areas;           /* VMAs */
    int64_t anonymous_areas; /* those with anonymous memory */
    int64_t areas_kept_from_children;
};

/* Reads the VMAs that start within `length` bytes from the address. 0, -ENOENT where none does, or another
 * -errno. */
int parent_region_read(const void *start, size_t length, struct parent_region *region);

int64_t parent_small_page_bytes(void);
int64_t parent_huge_page_bytes(void);    /* transparent ones; 0: this kernel has none */
int64_t parent_hugetlb_page_bytes(void); /* the default size; 0: none */

/* How much of parent_bytes is in pages that are touched, where any is. */
int64_t parent_touched_bytes(const struct request *request);

/* The size of this kind's pages; 0: this kernel has none. */
int64_t parent_page_bytes(int64_t page_kind);
/* Maps memory of a kind, with the kernel told what it shall be, and touches nothing; `fd`: what kinds of
 * files map. 0 or -errno; what was mapped so far is in `mapped` even then. */
int parent_map(int64_t page_kind, size_t length, int fd, unsigned char **mapped);

int parent_memory_build(struct bench *bench, struct reason *reason);
/* Maps and touches the memory anew. 0 or -errno. */
int parent_memory_renew(struct bench *bench);
void parent_memory_touch(const struct bench *bench);

int parent_areas_build(struct bench *bench, struct reason *reason);
void parent_areas_touch(const struct bench *bench);
int parent_areas_renew(struct bench *bench);

int parent_files_build(struct bench *bench, struct reason *reason);
/* Sets the limit of open files, after all have been opened. */
int parent_files_limit(struct bench *bench, struct reason *reason);

/* Registers handlers with pthread_atfork, which nothing takes back. */
int parent_handlers_build(const struct bench *bench, struct reason *reason);

int parent_threads_build(struct bench *bench, struct reason *reason);
void parent_threads_end(struct bench *bench);

int parent_lock_memory(const struct bench *bench, struct reason *reason);
int parent_set_class(const struct bench *bench, struct reason *reason);

#endif
