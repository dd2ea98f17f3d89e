#include "parent/parent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limits/limits.h"
#include "sys/sys.h"

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Writing, not reading: a read would map the shared zero page. */
static void write_pages(unsigned char *memory, size_t length) {
    size_t step = page_bytes();
    for (size_t at = 0; at < length; at += step) {
        ((volatile unsigned char *)memory)[at]++;
    }
}

static int map_memory(struct bench *bench) {
    size_t length = (size_t)bench->request->parent_bytes;
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    /* EINVAL: a kernel without huge pages, which is what is asked for. */
    if (madvise(memory, length, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) {
        return -errno;
    }
    /* Twice: in a virtual machine the first touch of host memory costs more than later ones. */
    write_pages(memory, length);
    write_pages(memory, length);
    bench->parent_memory = memory;
    return 0;
}

static int64_t field_kb(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at == NULL ? -1 : strtoll(at + strlen(key), NULL, 10);
}

/* Asks the kernel that all of the memory is resident and none of it huge. The region is the one VMA that
 * starts at its address; mincore would not tell huge pages. */
static int verify_small_pages(const struct bench *bench, struct reason *reason) {
    char line[512];
    char start[40];
    snprintf(start, sizeof start, "%lx-", (unsigned long)(uintptr_t)bench->parent_memory);
    FILE *smaps = fopen("/proc/self/smaps", "re");
    if (smaps == NULL) {
        return reason_set(reason, -errno, "/proc/self/smaps cannot be read: %s", strerror(errno));
    }
    int64_t rss_kb = -1;
    int64_t huge_kb = -1;
    int inside = 0;
    while (fgets(line, sizeof line, smaps) != NULL && (rss_kb < 0 || huge_kb < 0)) {
        inside = inside || strncmp(line, start, strlen(start)) == 0;
        if (inside && strncmp(line, "Rss:", 4) == 0) {
            rss_kb = field_kb(line, "Rss:");
        } else if (inside && strncmp(line, "AnonHugePages:", 14) == 0) {
            huge_kb = field_kb(line, "AnonHugePages:");
        }
    }
    fclose(smaps);
    if (rss_kb * 1024 < bench->request->parent_bytes || huge_kb > 0) {
        return reason_set(
            reason, -ENOMEM, "asked for %lld kB in 4 KiB pages, but %lld kB are resident and %lld kB huge",
            (long long)bench->request->parent_bytes >> 10, (long long)rss_kb, (long long)huge_kb);
    }
    return 0;
}

int parent_build(struct bench *bench, struct reason *reason) {
    struct limits_need need = {.memory_bytes = bench->request->parent_bytes, .tasks = 2};
    int error = limits_check("", &need, reason);
    if (error != 0 || need.memory_bytes == 0) {
        return error;
    }
    error = map_memory(bench);
    if (error != 0) {
        return reason_set(reason, error, "%lld bytes of parent memory cannot be mapped: %s",
                          (long long)need.memory_bytes, strerror(-error));
    }
    return verify_small_pages(bench, reason);
}

int parent_before_launch(struct bench *bench) {
    size_t length = (size_t)bench->request->parent_bytes;
    if (length == 0 || bench->request->pages == PAGES_CLEAN) {
        return 0;
    }
    if (bench->request->pages == PAGES_REWRITTEN) {
        write_pages(bench->parent_memory, length);
        return 0;
    }
    munmap(bench->parent_memory, length);
    return map_memory(bench);
}

void parent_facts_read(struct parent_facts *facts, char *scratch, size_t capacity) {
    *facts = (struct parent_facts){.vm_pte_bytes = -1, .rss_bytes = -1, .vmas = -1};
    if (sys_read_file("/proc/self/status", scratch, capacity) > 0) {
        facts->vm_pte_bytes = field_kb(scratch, "VmPTE:") * 1024;
        facts->rss_bytes = field_kb(scratch, "VmRSS:") * 1024;
    }
    long length = sys_read_file("/proc/self/maps", scratch, capacity);
    if (length > 0 && (size_t)length < capacity - 1) {
        facts->vmas = 0;
        for (const char *at = strchr(scratch, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
            facts->vmas++;
        }
    }
}
