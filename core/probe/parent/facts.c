#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "probe/parent/parts.h"

/* The kernel's text about more areas takes longer than the block that follows. */
enum { MOST_AREAS_READ = 1000 };

/* A file read line by line through a buffer of the caller's: /proc/self/maps of many VMAs has megabytes. */
struct lines {
    int fd;
    char *buffer;
    size_t capacity;
    size_t filled;
    size_t at;
};

/* The next line without its newline, cut where it is longer than the buffer; NULL at the end. */
static char *next_line(struct lines *lines) {
    for (;;) {
        char *start = lines->buffer + lines->at;
        char *newline = memchr(start, '\n', lines->filled - lines->at);
        bool full = lines->at == 0 && lines->filled == lines->capacity - 1;
        if (newline != NULL || full) {
            lines->at = newline != NULL ? (size_t)(newline - lines->buffer) + 1 : lines->filled;
            *(newline != NULL ? newline : lines->buffer + lines->filled) = '\0';
            return start;
        }
        memmove(lines->buffer, start, lines->filled - lines->at);
        lines->filled -= lines->at;
        lines->at = 0;
        ssize_t got = read(lines->fd, lines->buffer + lines->filled, lines->capacity - 1 - lines->filled);
        if (got <= 0) {
            return NULL;
        }
        lines->filled += (size_t)got;
    }
}

static int open_lines(struct lines *lines, const char *path, char *buffer, size_t capacity) {
    *lines = (struct lines){.fd = open(path, O_RDONLY | O_CLOEXEC), .buffer = buffer, .capacity = capacity};
    return lines->fd < 0 ? -errno : 0;
}

/* Adds the number of a line `key: N kB` to `bytes`. */
static bool add_kb(const char *line, const char *key, int64_t *bytes) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) {
        return false;
    }
    *bytes += strtoll(line + length, NULL, 10) * 1024;
    return true;
}

static void read_field(const char *line, struct parent_region *region) {
    int64_t anonymous = region->anonymous_bytes;
    if (add_kb(line, "Anonymous:", &region->anonymous_bytes)) {
        region->anonymous_areas += region->anonymous_bytes > anonymous;
        return;
    }
    if (add_kb(line, "Rss:", &region->rss_bytes) || add_kb(line, "AnonHugePages:", &region->huge_bytes) ||
        add_kb(line, "ShmemPmdMapped:", &region->huge_bytes) ||
        add_kb(line, "FilePmdMapped:", &region->huge_bytes) ||
        add_kb(line, "Private_Hugetlb:", &region->hugetlb_bytes) ||
        add_kb(line, "Shared_Hugetlb:", &region->hugetlb_bytes)) {
        return;
    }
    if (strncmp(line, "VmFlags:", 8) == 0) {
        region->areas_kept_from_children += strstr(line, " dc") != NULL;
    }
}

/* Whether a line begins a VMA, and where that starts: its addresses are hexadecimal and in lower case, the
 * names of fields begin with a capital. */
static bool starts_area(const char *line, uintptr_t *start) {
    char *end = NULL;
    *start = (uintptr_t)strtoull(line, &end, 16);
    return end != line && *end == '-';
}

int parent_region_read(const void *start, size_t length, struct parent_region *region) {
    char buffer[1024];
    struct lines lines;
    int error = open_lines(&lines, "/proc/self/smaps", buffer, sizeof buffer);
    if (error != 0) {
        return error;
    }
    *region = (struct parent_region){0};
    uintptr_t first = (uintptr_t)start;
    bool inside = false;
    bool beyond = false;
    for (char *line = next_line(&lines); line != NULL && !beyond; line = next_line(&lines)) {
        uintptr_t at;
        if (starts_area(line, &at)) {
            inside = at >= first && at < first + length;
            beyond = at >= first + length;
            region->areas += inside;
        } else if (inside) {
            read_field(line, region);
        }
    }
    close(lines.fd);
    return region->areas > 0 ? 0 : -ENOENT;
}

static int64_t count_lines(const char *path, char *scratch, size_t capacity) {
    struct lines lines;
    if (open_lines(&lines, path, scratch, capacity) != 0) {
        return -1;
    }
    int64_t count = 0;
    while (next_line(&lines) != NULL) {
        count++;
    }
    close(lines.fd);
    return count;
}

static int64_t field(const char *text, const char *key, int64_t unit) {
    const char *at = strstr(text, key);
    return at == NULL ? -1 : strtoll(at + strlen(key), NULL, 10) * unit;
}

void parent_facts_read(struct parent_facts *facts, char *scratch, size_t capacity) {
    *facts = (struct parent_facts){.vm_pte_bytes = -1,
                                   .rss_bytes = -1,
                                   .threads = -1,
                                   .anon_huge_bytes = -1,
                                   .hugetlb_bytes = -1,
                                   .anon_areas = -1,
                                   .anon_bytes = -1};
    if (sys_read_file("/proc/self/status", scratch, capacity) > 0) {
        facts->vm_pte_bytes = field(scratch, "\nVmPTE:", 1024);
        facts->rss_bytes = field(scratch, "\nVmRSS:", 1024);
        facts->hugetlb_bytes = field(scratch, "\nHugetlbPages:", 1024);
        facts->threads = field(scratch, "\nThreads:", 1);
    }
    if (sys_read_file("/proc/self/smaps_rollup", scratch, capacity) > 0) {
        facts->anon_huge_bytes = field(scratch, "\nAnonHugePages:", 1024);
    }
    facts->vmas = count_lines("/proc/self/maps", scratch, capacity);
    struct parent_region region;
    if (facts->vmas <= MOST_AREAS_READ && parent_region_read(NULL, SIZE_MAX, &region) == 0) {
        facts->anon_areas = region.anonymous_areas;
        facts->anon_bytes = region.anonymous_bytes;
    }
    facts->open_files = sys_count_entries("/proc/self/fd", scratch, capacity);
}
