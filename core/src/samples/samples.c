#include "samples/samples.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/sys.h"

enum { CACHE_LINE_BYTES = 64 };

_Static_assert(sizeof(struct sample) == CACHE_LINE_BYTES, "one launch dirties one cache line");

int arena_map(struct arena *arena, size_t length) {
    arena->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    arena->length = length + arena->page_bytes;
    arena->used = 0;
    arena->stamp_bytes = 0;
    arena->fd = sys_memory_file("clonometer", arena->length);
    int kind = MAP_SHARED | MAP_POPULATE | (arena->fd < 0 ? MAP_ANONYMOUS : 0);
    void *memory = mmap(NULL, arena->length, PROT_READ | PROT_WRITE, kind, arena->fd < 0 ? -1 : arena->fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    arena->memory = memory;
    /* Populating maps the pages for reading; a write makes each writable before anything is timed. */
    for (size_t at = 0; at < arena->length; at += arena->page_bytes) {
        arena->memory[at] = 0;
    }
    return 0;
}

int arena_keep_from_children(const struct arena *arena, bool stamp_page_too) {
    size_t first = stamp_page_too ? 0 : arena->stamp_bytes;
    return madvise(arena->memory + first, arena->length - first, MADV_DONTFORK) != 0 ? -errno : 0;
}

void *arena_take(struct arena *arena, size_t length) {
    /* What is taken first is the stamp page, alone on its pages: children may be given it and not the rest.
     */
    size_t step = arena->used == 0 ? arena->page_bytes : CACHE_LINE_BYTES;
    size_t room = (length + step - 1) / step * step;
    if (room > arena->length - arena->used) {
        return NULL;
    }
    void *taken = arena->memory + arena->used;
    arena->stamp_bytes = arena->used == 0 ? room : arena->stamp_bytes;
    arena->used += room;
    return taken;
}
