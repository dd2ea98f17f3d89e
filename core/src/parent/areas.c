/* Many VMAs: pages side by side of which every other one is left out of core dumps, so that the kernel cannot
 * merge them. That flag changes nothing else, and unlike a differing protection it also keeps neighbours from
 * sharing one anon_vma (mm/vma.c, anon_vma_compatible): each has its own, as mappings made apart have. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "parent/parts.h"

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
    for (size_t i = 1; i < count; i += 2) {
        if (madvise(bench->parent.areas + i * page, page, MADV_DONTDUMP) != 0) {
            return -errno;
        }
    }
    parent_areas_touch(bench);
    bool kept = bench->request->vma_kind == VMA_DONTFORK;
    return kept && madvise(bench->parent.areas, count * page, MADV_DONTFORK) != 0 ? -errno : 0;
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
    int64_t written = bench->request->vma_kind == VMA_UNTOUCHED ? 0 : count * page;
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
