/* The memory of parent_bytes, by kind of page.
 *
 * Whether fork copies a mapping's page table entries depends on its anon_vma, which it gets when a private
 * page is first written (mm/memory.c, vma_needs_copy): a mapping that is shared, untouched or only read has
 * none, and a forked child faults its pages in by itself. So private files come written and only read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/parent/parts.h"

/* Of linux/mman.h; old headers lack them. */
enum { ADVICE_POPULATE_WRITE = 23, ADVICE_COLLAPSE = 25 };

/* What one page table of 4 KiB entries maps, with entries of 8 bytes. */
enum { SPARSE_STEP_BYTES = 2 << 20 };

enum touch { TOUCH_NOTHING, TOUCH_READ, TOUCH_WRITE };

struct kind {
    int flags;
    int protection;
    enum touch touch;
    bool file;
    int advice; /* 0: none */
};

enum {
    ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS,
    READ_WRITE = PROT_READ | PROT_WRITE,
};

/* In the order of enum page_kind. Small pages are asked for wherever huge ones are not. What is never touched
 * is not accounted for either, so that it may be larger than memory and swap unless vm.overcommit_memory
 * is 2. */
static const struct kind KINDS[] = {
    {ANONYMOUS, READ_WRITE, TOUCH_WRITE, false, MADV_NOHUGEPAGE},                   /* 4k */
    {ANONYMOUS, READ_WRITE, TOUCH_WRITE, false, MADV_HUGEPAGE},                     /* thp */
    {ANONYMOUS | MAP_HUGETLB, READ_WRITE, TOUCH_WRITE, false, 0},                   /* hugetlb */
    {MAP_SHARED | MAP_ANONYMOUS, READ_WRITE, TOUCH_WRITE, false, MADV_NOHUGEPAGE},  /* shared */
    {MAP_PRIVATE, READ_WRITE, TOUCH_WRITE, true, MADV_NOHUGEPAGE},                  /* file_private */
    {MAP_PRIVATE, PROT_READ, TOUCH_READ, true, MADV_NOHUGEPAGE},                    /* file_private_read */
    {MAP_SHARED, READ_WRITE, TOUCH_WRITE, true, MADV_NOHUGEPAGE},                   /* file_shared */
    {MAP_SHARED, PROT_READ, TOUCH_READ, true, MADV_NOHUGEPAGE},                     /* file_shared_read */
    {ANONYMOUS, READ_WRITE, TOUCH_WRITE, false, MADV_NOHUGEPAGE},                   /* dontfork */
    {ANONYMOUS | MAP_NORESERVE, READ_WRITE, TOUCH_NOTHING, false, MADV_NOHUGEPAGE}, /* untouched */
    {ANONYMOUS, READ_WRITE, TOUCH_WRITE, false, MADV_NOHUGEPAGE},                   /* sparse */
};

int64_t parent_small_page_bytes(void) {
    return sysconf(_SC_PAGESIZE);
}

int64_t parent_huge_page_bytes(void) {
    char text[32];
    long length = sys_read_file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof text);
    return length > 0 ? strtoll(text, NULL, 10) : 0;
}

static int64_t meminfo(const char *key) {
    char text[8192];
    const char *at = sys_read_file("/proc/meminfo", text, sizeof text) > 0 ? strstr(text, key) : NULL;
    return at == NULL ? 0 : strtoll(at + strlen(key), NULL, 10);
}

int64_t parent_hugetlb_page_bytes(void) {
    return meminfo("Hugepagesize:") * 1024;
}

int parent_page_kind_available(int64_t page_kind, struct reason *reason) {
    char text[128];
    if (page_kind == PAGE_KIND_THP) {
        if (sys_read_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) <= 0) {
            return reason_set(reason, -ENOSYS, "this kernel has no transparent huge pages");
        }
        if (strstr(text, "[never]") != NULL) {
            return reason_set(reason, -ENOSYS,
                              "transparent huge pages are switched off; write madvise to "
                              "/sys/kernel/mm/transparent_hugepage/enabled");
        }
    }
    if (page_kind == PAGE_KIND_HUGETLB) {
        int64_t free_pages = meminfo("HugePages_Free:") - meminfo("HugePages_Rsvd:");
        if (free_pages <= 0) {
            return reason_set(reason, -ENOMEM,
                              "%lld of %lld huge pages are free; reserve some with sysctl vm.nr_hugepages=N",
                              (long long)free_pages, (long long)meminfo("HugePages_Total:"));
        }
    }
    return 0;
}

/* Touching one byte a page. Writing, not reading, where it must be written: a read of anonymous memory maps
 * the shared zero page. */
void parent_memory_touch(const struct bench *bench) {
    size_t step = bench->parent.memory_step;
    volatile unsigned char *memory = bench->parent.memory;
    if (step == 0 || memory == NULL) {
        return;
    }
    size_t length = (size_t)bench->request->parent_bytes;
    if (KINDS[bench->request->page_kind].touch == TOUCH_READ) {
        for (size_t at = 0; at < length; at += step) {
            (void)memory[at];
        }
        return;
    }
    for (size_t at = 0; at < length; at += step) {
        memory[at]++;
    }
}

/* Maps the kind at an address that is a multiple of `alignment`, still inaccessible: under mlockall a mapping
 * is populated at once, and the advice must come before. */
static int map_aligned(const struct kind *kind, size_t length, size_t alignment, int fd,
                       unsigned char **mapped) {
    size_t room = alignment > 0 ? length + alignment : length;
    unsigned char *start = mmap(NULL, room, PROT_NONE, kind->flags, fd, 0);
    if (start == MAP_FAILED) {
        return -errno;
    }
    if (alignment > 0) {
        size_t before = (alignment - (uintptr_t)start % alignment) % alignment;
        if (before > 0) {
            munmap(start, before);
        }
        start += before;
        if (alignment - before > 0) {
            munmap(start + length, alignment - before);
        }
    }
    *mapped = start;
    return 0;
}

int parent_map(int64_t page_kind, size_t length, int fd, unsigned char **mapped) {
    const struct kind *kind = &KINDS[page_kind];
    size_t alignment = page_kind == PAGE_KIND_THP ? (size_t)parent_huge_page_bytes() : 0;
    unsigned char *memory = NULL;
    int error = map_aligned(kind, length, alignment, kind->file ? fd : -1, &memory);
    if (error != 0) {
        return error;
    }
    *mapped = memory;
    /* EINVAL: a kernel without huge pages, which is what is asked for. */
    if (kind->advice != 0 && madvise(memory, length, kind->advice) != 0 &&
        !(errno == EINVAL && kind->advice == MADV_NOHUGEPAGE)) {
        return -errno;
    }
    if (page_kind == PAGE_KIND_DONTFORK && madvise(memory, length, MADV_DONTFORK) != 0) {
        return -errno;
    }
    return mprotect(memory, length, kind->protection) != 0 ? -errno : 0;
}

static int map_memory(struct bench *bench) {
    const struct request *request = bench->request;
    int error = parent_map(request->page_kind, (size_t)request->parent_bytes, bench->parent.memory_fd,
                           &bench->parent.memory);
    if (error != 0) {
        return error;
    }
    if (KINDS[request->page_kind].touch == TOUCH_WRITE && request->page_kind != PAGE_KIND_SPARSE) {
        /* The same faults without a trap for each, which is a good quarter of the time to build a GiB; a
         * kernel before 5.14 has no such advice and leaves it to the touching. */
        (void)madvise(bench->parent.memory, (size_t)request->parent_bytes, ADVICE_POPULATE_WRITE);
    }
    /* Twice: in a virtual machine the first touch of host memory costs more than later ones. */
    parent_memory_touch(bench);
    parent_memory_touch(bench);
    return 0;
}

int parent_memory_renew(struct bench *bench) {
    if (bench->parent.memory == NULL) {
        return 0;
    }
    munmap(bench->parent.memory, (size_t)bench->request->parent_bytes);
    return map_memory(bench);
}

int64_t parent_touched_bytes(const struct request *request) {
    bool sparse = request->page_kind == PAGE_KIND_SPARSE;
    int64_t steps = (request->parent_bytes + SPARSE_STEP_BYTES - 1) / SPARSE_STEP_BYTES;
    return sparse ? steps * parent_small_page_bytes() : request->parent_bytes;
}

/* Asks the kernel whether the memory became what was asked for. */
static int verify(const struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    enum touch touch = KINDS[request->page_kind].touch;
    int64_t bytes = parent_touched_bytes(request);
    struct parent_region region;
    int error = parent_region_read(bench->parent.memory, (size_t)request->parent_bytes, &region);
    if (error != 0) {
        return reason_set(reason, error, "/proc/self/smaps does not show the parent's memory: %s",
                          strerror(-error));
    }
    bool huge = request->page_kind == PAGE_KIND_THP;
    bool hugetlb = request->page_kind == PAGE_KIND_HUGETLB;
    bool copied = request->page_kind == PAGE_KIND_FILE_PRIVATE;
    bool right = hugetlb ? region.hugetlb_bytes >= bytes
                         : region.rss_bytes >= (touch == TOUCH_NOTHING ? 0 : bytes) &&
                               (touch != TOUCH_NOTHING || region.rss_bytes == 0) &&
                               (huge ? region.huge_bytes >= bytes : region.huge_bytes == 0) &&
                               (!copied || region.anonymous_bytes >= bytes);
    bool kept = request->page_kind == PAGE_KIND_DONTFORK;
    right = right && (region.areas_kept_from_children > 0) == kept;
    return right
               ? 0
               : reason_set(reason, -ENOMEM,
                            "asked for %lld kB, but of them %lld kB are resident, %lld kB anonymous, %lld kB "
                            "in transparent huge pages, %lld kB in reserved ones",
                            (long long)bytes >> 10, (long long)region.rss_bytes >> 10,
                            (long long)region.anonymous_bytes >> 10, (long long)region.huge_bytes >> 10,
                            (long long)region.hugetlb_bytes >> 10);
}

/* The file is one in memory: every machine has it, no disk is touched, and nothing remains of it. */
static int open_file(struct bench *bench) {
    bench->parent.memory_fd = sys_memory_file("clonometer-parent", (size_t)bench->request->parent_bytes);
    if (bench->parent.memory_fd < 0) {
        return bench->parent.memory_fd;
    }
    return fcntl(bench->parent.memory_fd, F_SETFD, FD_CLOEXEC) != 0 ? -errno : 0;
}

int64_t parent_page_bytes(int64_t page_kind) {
    switch (page_kind) {
    case PAGE_KIND_THP:
        return parent_huge_page_bytes();
    case PAGE_KIND_HUGETLB:
        return parent_hugetlb_page_bytes();
    default:
        return parent_small_page_bytes();
    }
}

int parent_memory_build(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    const struct kind *kind = &KINDS[request->page_kind];
    if (request->parent_bytes == 0) {
        return 0;
    }
    int64_t step = parent_page_bytes(request->page_kind);
    bool huge = request->page_kind == PAGE_KIND_THP || request->page_kind == PAGE_KIND_HUGETLB;
    if (step <= 0 || (huge && request->parent_bytes % step != 0)) {
        return reason_set(reason, -EOPNOTSUPP,
                          "parent_bytes=%lld is not a multiple of this kind's page of %lld bytes",
                          (long long)request->parent_bytes, (long long)step);
    }
    if (request->page_kind == PAGE_KIND_SPARSE) {
        step = SPARSE_STEP_BYTES;
    }
    bench->parent.memory_step = kind->touch == TOUCH_NOTHING ? 0 : (size_t)step;
    int error = kind->file ? open_file(bench) : 0;
    error = error != 0 ? error : map_memory(bench);
    if (error != 0) {
        return reason_set(
            reason, error,
            "%lld bytes of parent memory cannot be mapped: %s; more than memory and swap together "
            "needs vm.overcommit_memory=1",
            (long long)request->parent_bytes, strerror(-error));
    }
    struct parent_region region;
    if (request->page_kind == PAGE_KIND_THP &&
        parent_region_read(bench->parent.memory, (size_t)request->parent_bytes, &region) == 0 &&
        region.huge_bytes < request->parent_bytes) {
        /* Fragmented memory gave small pages; the kernel may still move them together. */
        (void)madvise(bench->parent.memory, (size_t)request->parent_bytes, ADVICE_COLLAPSE);
    }
    return verify(bench, reason);
}
