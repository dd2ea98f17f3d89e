#include "census/spaces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { MOST_TASKS = 1 << 22 /* PID_MAX_LIMIT */, FIRST_ROOM = 16, LINE_ROOM = 8192 };

int spaces_open(struct spaces *spaces) {
    /* Untouched, it takes no memory. */
    *spaces = (struct spaces){.of_process = calloc(MOST_TASKS, sizeof(struct space *))};
    return spaces->of_process == NULL ? -ENOMEM : 0;
}

static bool can_be(pid_t process) {
    return process > 0 && process < MOST_TASKS;
}

static void release(struct space *space) {
    if (space != NULL && --space->users == 0) {
        free(space->mapping);
        free(space);
    }
}

void spaces_leave(struct spaces *spaces, pid_t process) {
    if (can_be(process)) {
        release(spaces->of_process[process]);
        spaces->of_process[process] = NULL;
    }
}

void spaces_close(struct spaces *spaces) {
    for (pid_t process = 0; spaces->of_process != NULL && process < MOST_TASKS; process++) {
        release(spaces->of_process[process]);
    }
    free(spaces->of_process);
    spaces->of_process = NULL;
    modules_free(&spaces->modules);
}

void spaces_begin(struct spaces *spaces, pid_t process) {
    if (can_be(process)) {
        spaces_leave(spaces, process);
        spaces->of_process[process] = calloc(1, sizeof(struct space));
        if (spaces->of_process[process] != NULL) {
            spaces->of_process[process]->users = 1;
        }
    }
}

void spaces_fork(struct spaces *spaces, pid_t parent, pid_t child) {
    if (can_be(parent) && can_be(child) && parent != child && spaces->of_process[parent] != NULL) {
        spaces_leave(spaces, child);
        spaces->of_process[child] = spaces->of_process[parent];
        spaces->of_process[child]->users++;
    }
}

const struct space *spaces_of(const struct spaces *spaces, pid_t process) {
    return can_be(process) ? spaces->of_process[process] : NULL;
}

/* The process's alone, to be changed; NULL without memory. */
static struct space *alone(struct spaces *spaces, pid_t process) {
    struct space *space = spaces->of_process[process];
    if (space->users == 1) {
        return space;
    }
    struct space *copy = malloc(sizeof *copy);
    struct space_mapping *mapping = malloc(space->room * sizeof *mapping);
    if (copy == NULL || (mapping == NULL && space->room > 0)) {
        free(copy);
        free(mapping);
        return NULL;
    }
    *copy = (struct space){.mapping = mapping, .count = space->count, .room = space->room, .users = 1};
    if (space->count > 0) {
        memcpy(mapping, space->mapping, space->count * sizeof *mapping);
    }
    space->users--;
    spaces->of_process[process] = copy;
    return copy;
}

/* The first mapping that ends behind an address. */
static size_t place_of(const struct space *space, uint64_t address) {
    size_t low = 0;
    size_t high = space->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->mapping[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert(struct space *space, const struct space_mapping *mapping) {
    if (space->count >= SPACE_MOST_MAPPINGS) {
        return;
    }
    if (space->count == space->room) {
        size_t room = space->room > 0 ? 2 * space->room : FIRST_ROOM;
        struct space_mapping *more = realloc(space->mapping, room * sizeof *more);
        if (more == NULL) {
            return;
        }
        space->mapping = more;
        space->room = room;
    }
    size_t place = place_of(space, mapping->start);
    memmove(space->mapping + place + 1, space->mapping + place,
            (space->count - place) * sizeof *space->mapping);
    space->mapping[place] = *mapping;
    space->count++;
}

/* What was there is there no longer. */
static void clear(struct space *space, uint64_t start, uint64_t end) {
    size_t place = place_of(space, start);
    while (place < space->count && space->mapping[place].start < end) {
        struct space_mapping former = space->mapping[place];
        memmove(space->mapping + place, space->mapping + place + 1,
                (space->count - place - 1) * sizeof *space->mapping);
        space->count--;
        struct space_mapping left = former;
        left.end = start;
        struct space_mapping right = former;
        right.start = end;
        right.offset += end - former.start;
        if (former.start < start) {
            insert(space, &left);
            place++;
        }
        if (former.end > end) {
            insert(space, &right);
        }
    }
}

/* Shared libraries and programs have a path; what the kernel or a compiler has made has none, or a word. */
static bool is_path(const char *path) {
    return path[0] == '/' && path[1] != '/';
}

/* "[vdso]" and its like, from which no task is made. */
static bool is_kernels(const char *path) {
    return path[0] == '[' && strncmp(path, "[anon", strlen("[anon")) != 0;
}

void spaces_map(struct spaces *spaces, pid_t process, uint64_t start, uint64_t bytes, uint64_t offset,
                const char *path, const struct module_identity *identity) {
    if (spaces_of(spaces, process) == NULL || start + bytes <= start || is_kernels(path)) {
        return;
    }
    struct space *space = alone(spaces, process);
    bool in_file = is_path(path);
    int module = in_file ? modules_of_file(&spaces->modules, path, identity, process)
                         : modules_of_code(&spaces->modules, process);
    if (space != NULL && module != MODULE_NONE) {
        clear(space, start, start + bytes);
        insert(space, &(struct space_mapping){.start = start,
                                              .end = start + bytes,
                                              .offset = in_file ? offset : start,
                                              .module = module});
    }
}

/* A line of /proc/PID/maps: addresses, rights, place in the file, device, number, name. */
static void read_line(struct spaces *spaces, pid_t process, char *line) {
    enum { HEXADECIMAL = 16, DECIMAL = 10 };
    char *at = line;
    line[strcspn(line, "\n")] = '\0';
    uint64_t start = strtoull(at, &at, HEXADECIMAL);
    uint64_t end = strtoull(at + (*at == '-'), &at, HEXADECIMAL);
    if (at[0] != ' ' || strlen(at) < strlen(" r-xp ") || at[3] != 'x') {
        return;
    }
    uint64_t offset = strtoull(at + strlen(" r-xp "), &at, HEXADECIMAL);
    unsigned long major_number = strtoul(at, &at, HEXADECIMAL);
    unsigned long minor_number = strtoul(at + (*at == ':'), &at, HEXADECIMAL);
    uint64_t number = strtoull(at, &at, DECIMAL);
    const struct module_identity identity = {
        .device = makedev((unsigned)major_number, (unsigned)minor_number), .number = number};
    spaces_map(spaces, process, start, end - start, offset, at + strspn(at, " "), &identity);
}

bool spaces_read(struct spaces *spaces, pid_t process) {
    char path[64];
    char line[LINE_ROOM];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) {
        return false;
    }
    spaces_begin(spaces, process);
    bool any = false;
    while (fgets(line, sizeof line, maps) != NULL) {
        any = true;
        read_line(spaces, process, line);
    }
    fclose(maps);
    return any;
}

uint64_t spaces_address(const struct spaces *spaces, const struct space *space, uint64_t address) {
    size_t place = place_of(space, address);
    if (place == space->count || space->mapping[place].start > address) {
        return 0;
    }
    const struct space_mapping *mapping = &space->mapping[place];
    return module_address(&spaces->modules.module[mapping->module],
                          address - mapping->start + mapping->offset);
}
