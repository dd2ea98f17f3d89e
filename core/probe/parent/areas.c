/* Many VMAs: pages side by side of which every other one is left out of core dumps, so that the kernel cannot
 * merge them. That flag changes nothing else, and unlike a differing protection it also keeps neighbours from
 * sharing one anon_vma (mm/vma.c, anon_vma_compatible): each has its own, as mappings made apart have. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/parent/parts.h"

/* Every area maps the first page of the file, so that no two continue each other and none merge. */
static int map_file(unsigned char *areas, size_t count, size_t page) {
    int fd = sys_memory_file("clonometer-areas", page);
    int error = fd < 0 ? fd : 0;
    for (size_t i = 0; error == 0 && i < count; i++) {
        void *mapped = mmap(areas + i * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
        error = mapped == MAP_FAILED ? -errno : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

static int advise(const struct bench *bench, size_t length) {
    int64_t kind = bench->request->vma_kind;
    int advice = kind == VMA_DONTFORK ? MADV_DONTFORK : kind == VMA_WIPEONFORK ? MADV_WIPEONFORK : 0;
    return advice != 0 && madvise(bench->parent.areas, length, advice) != 0 ? -errno : 0;
}

static int map_areas(struct bench *bench) {
    size_t page = (size_t)parent_small_page_bytes();
    size_t count = (size_t)bench->request->vmas;
    /* With a hole at either end: they must not merge with what lies beside them either. */
    unsigned char *start =
        mmap(NULL, (count + 2) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return -errno;
    }
    bench->parent.areas = start + page;
    if (munmap(start, page) != 0 || munmap(start + (count + 1) * page, page) != 0) {
        return -errno;
    }
    bool file = bench->request->vma_kind == VMA_FILE;
    int error = file ? map_file(bench->parent.areas, count, page) : 0;
    if (error != 0) {
        return error;
    }
    for (size_t i = 1; !file && i < count; i += 2) {
        if (madvise(bench->parent.areas + i * page, page, MADV_DONTDUMP) != 0) {
            return -errno;
        }
    }
    parent_areas_touch(bench);
    return advise(bench, count * page);
}

void parent_areas_touch(const struct bench *bench) {
    volatile unsigned char *areas = bench->parent.areas;
    if (areas == NULL || bench->request->vma_kind == VMA_UNTOUCHED) {
        return;
    }
    size_t page = (size_t)parent_small_page_bytes();
    for (size_t i = 0; i < (size_t)bench->request->vmas; i++) {
        areas[i * page]++;
    }
}

int parent_areas_renew(struct bench *bench) {
    if (bench->parent.areas == NULL || bench->request->vma_kind == VMA_UNTOUCHED) {
        return 0;
    }
    munmap(bench->parent.areas, (size_t)bench->request->vmas * (size_t)parent_small_page_bytes());
    return map_areas(bench);
}

/* Asks the kernel whether they became what was asked for: so many, none merged, written or not, kept or not.
 */
static int verify(const struct bench *bench, struct reason *reason) {
    int64_t count = bench->request->vmas;
    int64_t page = parent_small_page_bytes();
    bool anonymous = bench->request->vma_kind != VMA_UNTOUCHED && bench->request->vma_kind != VMA_FILE;
    int64_t written = anonymous ? count * page : 0;
    int64_t kept = bench->request->vma_kind == VMA_DONTFORK ? count : 0;
    struct parent_region all;
    int error = parent_region_read(bench->parent.areas, (size_t)(count * page), &all);
    if (error != 0) {
        return reason_set(reason, error, "/proc/self/smaps does not show the parent's memory areas: %s",
                          strerror(-error));
    }
    return all.areas == count && all.anonymous_bytes == written && all.areas_kept_from_children == kept
               ? 0
               : reason_set(reason, -ENOMEM,
                            "asked for %" PRId64 " memory areas, %" PRId64 " kB written, %" PRId64
                            " kept from children, but there are %" PRId64 ", %" PRId64 " kB and %" PRId64,
                            count, written >> 10, kept, all.areas, all.anonymous_bytes >> 10,
                            all.areas_kept_from_children);
}

int parent_areas_build(struct bench *bench, struct reason *reason) {
    if (bench->request->vmas == 0) {
        return 0;
    }
    int error = map_areas(bench);
    return error == 0 ? verify(bench, reason)
                      : reason_set(reason, error, "%lld memory areas cannot be made: %s",
                                   (long long)bench->request->vmas, strerror(-error));
}
