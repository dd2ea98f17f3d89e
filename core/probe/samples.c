#include "probe/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sys.h"

/* Where the hole between the program and its heap starts, which is there unless the kernel places programs at
 * fixed addresses, and how long it is; 0 where /proc does not tell of one. */
static size_t hole_below_heap(uintptr_t *start) {
    char maps[4096];
    if (sys_read_file("/proc/self/maps", maps, sizeof maps) <= 0) {
        return 0;
    }
    uintptr_t below = 0;
    for (char *line = maps; *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end == NULL) {
            return 0;
        }
        *end = '\0';
        char *dash = NULL;
        uintptr_t first = (uintptr_t)strtoull(line, &dash, 16);
        if (strstr(line, "[heap]") != NULL) {
            *start = below;
            return below != 0 ? first - below : 0;
        }
        below = *dash == '-' ? (uintptr_t)strtoull(dash + 1, NULL, 16) : 0;
        line = end + 1;
    }
    return 0;
}

/* Fills the hole below the heap with the arena's file, which ends long before it does. */
static void *fill_hole(struct arena *arena) {
    enum { FIXED_NOREPLACE = 0x100000 }; /* old headers lack it, and old kernels take it for a hint */
    struct rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) {
        return MAP_FAILED; /* it would be used up for nothing */
    }
    uintptr_t start = 0;
    size_t length = hole_below_heap(&start);
    if (length == 0 || length < arena->length) {
        return MAP_FAILED;
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address from /proc */
    void *place = (void *)start;
    void *memory = mmap(place, length, PROT_READ | PROT_WRITE, MAP_SHARED | FIXED_NOREPLACE, arena->fd, 0);
    if (memory != MAP_FAILED && memory != place) {
        munmap(memory, length);
        return MAP_FAILED;
    }
    arena->mapped = length;
    return memory;
}

int arena_map(struct arena *arena, size_t length, bool may_fill_hole) {
    arena->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    arena->length = length + arena->page_bytes;
    arena->mapped = arena->length;
    arena->used = 0;
    arena->stamp_bytes = 0;
    arena->fd = sys_memory_file("clonometer", arena->length);
    void *memory = may_fill_hole && arena->fd >= 0 ? fill_hole(arena) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        int kind = MAP_SHARED | (arena->fd < 0 ? MAP_ANONYMOUS : 0);
        memory = mmap(NULL, arena->length, PROT_READ | PROT_WRITE, kind, arena->fd < 0 ? -1 : arena->fd, 0);
    }
    if (memory == MAP_FAILED) {
        return -errno;
    }
    arena->memory = memory;
    arena->populated = 0;
    return 0;
}

void arena_populate(struct arena *arena, const void *end) {
    size_t until = end != NULL ? (size_t)((const unsigned char *)end - arena->memory) : arena->length;
    for (; arena->populated < until; arena->populated += arena->page_bytes) {
        arena->memory[arena->populated] = 0;
    }
}

int arena_keep_from_children(const struct arena *arena, bool stamp_page_too) {
    size_t first = stamp_page_too ? 0 : arena->stamp_bytes;
    return madvise(arena->memory + first, arena->mapped - first, MADV_DONTFORK) != 0 ? -errno : 0;
}

void *arena_take(struct arena *arena, size_t length) {
    /* What is taken first is the stamp page, alone on its pages: children may be given it and not the rest.
     */
    size_t step = arena->used == 0 ? arena->page_bytes : SAMPLES_LINE_BYTES;
    size_t room = (length + step - 1) / step * step;
    if (room > arena->length - arena->used) {
        return NULL;
    }
    void *taken = arena->memory + arena->used;
    arena->stamp_bytes = arena->used == 0 ? room : arena->stamp_bytes;
    arena->used += room;
    return taken;
}
