/* The arena: the stamp page alone on its page, cache lines kept apart, shared with children, refused when
 * full. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "probe/samples.h"

/* An emulator need not know what it is asked for. */
static bool keeps_from_children(void) {
    unsigned char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED && madvise(page, 65536, MADV_DONTFORK) == 0, "no memory");
    pid_t pid = fork();
    if (pid == 0) {
        page[0] = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* With the pages of 64 KiB that an arm64 kernel may have. */
static void keep_large_pages(void) {
    enum { LARGE = 65536 };
    struct arena arena;
    CHECK(arena_map(&arena, 4 * LARGE, false) == 0, "not mapped");
    CHECK(arena.page_bytes == (size_t)sysconf(_SC_PAGESIZE), "pages of %zu bytes", arena.page_bytes);
    arena.page_bytes = LARGE;
    unsigned char *page = arena_take(&arena, 40);
    unsigned char *first = arena_take(&arena, 10);
    CHECK(first - page == LARGE && arena.stamp_bytes == LARGE, "the rest cannot be kept from children");
}

/* Between the program and its heap, with neighbours on both sides, or as large as was asked for. */
static void fill_the_hole(void) {
    struct arena arena;
    CHECK(arena_map(&arena, 8192, true) == 0, "not mapped");
    unsigned char *page = arena_take(&arena, 40);
    unsigned char *last = arena_take(&arena, 8192);
    CHECK(page != NULL && last != NULL && last + 8192 <= arena.memory + arena.mapped,
          "less than was asked for");
    last[8191] = 5;
    if (arena.mapped > arena.length) {
        unsigned char residency;
        CHECK(mincore(arena.memory - arena.page_bytes, 1, &residency) == 0, "a hole is left below");
        CHECK(mincore(arena.memory + arena.mapped, 1, &residency) == 0, "a hole is left above");
    }
    pid_t pid = fork();
    if (pid == 0) {
        unsigned char residency;
        _exit(mincore(last, 1, &residency) == 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == 1, "the child has not even what it is given");
    CHECK(arena_keep_from_children(&arena, true) == 0, "not kept");
    pid = fork();
    if (pid == 0) {
        unsigned char residency;
        _exit(mincore(page, 1, &residency) == 0 ||
              mincore(arena.memory + arena.mapped - arena.page_bytes, 1, &residency) == 0);
    }
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == 0 || !keeps_from_children(), "the child has a part of it");
    munmap(arena.memory, arena.mapped);
}

static bool is_there(unsigned char *at, const struct arena *arena) {
    unsigned char residency = 0;
    size_t inside = (size_t)(at - arena->memory) % arena->page_bytes;
    CHECK(mincore(at - inside, 1, &residency) == 0, "not mapped");
    return (residency & 1) != 0;
}

/* A cold launch finds the pages of its own row alone; the rest come after it and destroy nothing. */
static void populate_in_two_steps(void) {
    struct arena arena;
    CHECK(arena_map(&arena, 16 << 12, false) == 0, "not mapped");
    unsigned char *page = arena_take(&arena, 40);
    unsigned char *rows = arena_take(&arena, 12 << 12);
    unsigned char *last = rows + (12 << 12) - 1;
    arena_populate(&arena, rows + 64);
    CHECK(is_there(page, &arena) && is_there(rows, &arena), "what the first launch writes is not there");
    CHECK(!is_there(last, &arena), "all of it is there");
    rows[0] = 7;
    arena_populate(&arena, NULL);
    CHECK(is_there(last, &arena) && rows[0] == 7, "the rest is not there, or something was overwritten");
    munmap(arena.memory, arena.mapped);
}

int main(void) {
    struct arena arena;
    fill_the_hole();
    populate_in_two_steps();
    keep_large_pages();
    CHECK(arena_map(&arena, 8192, false) == 0, "not mapped");
    unsigned char *page = arena_take(&arena, 40);
    unsigned char *first = arena_take(&arena, 10);
    unsigned char *second = arena_take(&arena, 10);
    CHECK(page != NULL && first - page == sysconf(_SC_PAGESIZE), "the stamp page is shared with other data");
    CHECK(second - first == 64, "two takers share a cache line");
    CHECK(arena_take(&arena, 1 << 20) == NULL, "gave more than it has");
    pid_t pid = fork();
    if (pid == 0) {
        page[5] = 7;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    CHECK(page[5] == 7, "the child's write does not reach the parent");
    CHECK(arena_keep_from_children(&arena, false) == 0, "not kept");
    pid = fork();
    if (pid == 0) {
        page[5] = 8;
        first[0] = 1; /* no memory here: the child must die of it */
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(page[5] == 8, "the stamp page was kept from the child");
    CHECK(!keeps_from_children() || !WIFEXITED(status) || WEXITSTATUS(status) != 0,
          "the samples were inherited");
    unsigned char byte = 9;
    CHECK(pwrite(arena.fd, &byte, 1, 6) == 1 && page[6] == 9,
          "a write to the file does not reach the memory");
    return 0;
}
