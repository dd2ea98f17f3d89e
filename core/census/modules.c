#include "census/modules.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "census/strangers.h"

enum { FIRST_ROOM = 64, MOST_HEADERS = 64, PAGE = 4096, GAP = 1 << 20 };

/* Beyond all addresses that a process may have: no word of a stack that was not translated is taken for one.
 */
static const uint64_t FIRST_BASE = UINT64_C(1) << 56;

/* Source: FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* What a module is found by: its path and identity, or whose code it is. */
static uint64_t hash_of(const char *path, const struct module_identity *identity, pid_t process) {
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), path, strlen(path));
    hash = mix(hash, identity->build_id, identity->build_id_bytes);
    hash = mix(hash, &identity->device, sizeof identity->device);
    hash = mix(hash, &identity->number, sizeof identity->number);
    return mix(hash, &process, sizeof process);
}

static bool same_identity(const struct module_identity *left, const struct module_identity *right) {
    return left->build_id_bytes == right->build_id_bytes &&
           memcmp(left->build_id, right->build_id, left->build_id_bytes) == 0 &&
           left->device == right->device && left->number == right->number;
}

/* The slot that names the module, or in which it would be named; there must be some. */
static size_t slot_of(const struct modules *modules, const char *path, const struct module_identity *identity,
                      pid_t process) {
    size_t last = 2 * modules->room - 1; /* rooms are powers of two */
    size_t slot = hash_of(path, identity, process) & last;
    while (modules->slots[slot] != 0) {
        const struct module *module = &modules->module[modules->slots[slot] - 1];
        if (module->process == process && same_identity(&module->identity, identity) &&
            strcmp(module->path, path) == 0) {
            break;
        }
        slot = (slot + 1) & last;
    }
    return slot;
}

static int find(const struct modules *modules, const char *path, const struct module_identity *identity,
                pid_t process) {
    return modules->room > 0 ? (int)modules->slots[slot_of(modules, path, identity, process)] - 1
                             : MODULE_NONE;
}

/* Makes room for twice as many. */
static bool grow(struct modules *modules) {
    size_t room = modules->room > 0 ? 2 * modules->room : FIRST_ROOM;
    uint32_t *slots = calloc(2 * room, sizeof *slots);
    struct module *more = slots != NULL ? realloc(modules->module, room * sizeof *more) : NULL;
    if (more == NULL) {
        free(slots);
        return false;
    }
    free(modules->slots);
    modules->module = more;
    modules->slots = slots;
    modules->room = room;
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &more[i];
        slots[slot_of(modules, module->path, &module->identity, module->process)] = (uint32_t)i + 1;
    }
    return true;
}

static struct module *add(struct modules *modules, const char *path, const struct module_identity *identity,
                          pid_t process) {
    if (modules->count == MODULES_MOST || (modules->count == modules->room && !grow(modules))) {
        return NULL;
    }
    struct module *module = &modules->module[modules->count];
    *module = (struct module){.path = strdup(path), .identity = *identity, .process = process, .file = -1};
    return module->path != NULL ? module : NULL;
}

/* Gives it its range, and makes it one of them. */
static int settle(struct modules *modules, struct module *module) {
    size_t slot = slot_of(modules, module->path, &module->identity, module->process);
    modules->next_base = modules->next_base != 0 ? modules->next_base : FIRST_BASE;
    module->base = modules->next_base;
    modules->next_base += (module->bytes + GAP + PAGE - 1) / PAGE * PAGE;
    modules->slots[slot] = (uint32_t)++modules->count;
    return (int)modules->count - 1;
}

/* Overlays and btrfs tell mappings other devices than stat: the number is what must agree. A build id is
 * compared by who reads the file's notes. */
static bool is_the_file(int file, const struct module_identity *identity) {
    struct stat status;
    return fstat(file, &status) == 0 &&
           (identity->build_id_bytes > 0 || identity->number == 0 || status.st_ino == identity->number);
}

/* As the process sees it, or, where that has gone, as we do. */
static int open_file(const char *path, const struct module_identity *identity, pid_t process) {
    const pid_t sees[] = {process, 0};
    int error = -ENOENT;
    for (size_t i = 0; i < 2; i++) {
        int file = strangers_open(sees[i], path, false);
        if (file >= 0 && is_the_file(file, identity)) {
            return file;
        }
        error = file >= 0 || file == -ESTALE ? -ESTALE : error;
        if (file >= 0) {
            close(file);
        }
    }
    return error;
}

/* Reads what the file loads. 0 or -errno. */
static int read_segments(struct module *module) {
    ElfW(Ehdr) header;
    ElfW(Phdr) headers[MOST_HEADERS];
    uint64_t end = 0;
    if (pread(module->file, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_phentsize != sizeof headers[0] || header.e_phnum > MOST_HEADERS) {
        return -ENOEXEC;
    }
    size_t bytes = header.e_phnum * sizeof headers[0];
    if (pread(module->file, headers, bytes, (off_t)header.e_phoff) != (ssize_t)bytes) {
        return -ENOEXEC;
    }
    for (size_t i = 0; i < header.e_phnum && module->segment_count < MODULE_MOST_SEGMENTS; i++) {
        const ElfW(Phdr) *loaded = &headers[i];
        if (loaded->p_type != PT_LOAD || loaded->p_vaddr + loaded->p_memsz < loaded->p_vaddr) {
            continue;
        }
        if (module->segment_count == 0) {
            module->least = loaded->p_vaddr & ~((uint64_t)PAGE - 1);
        }
        module->segments[module->segment_count].offset = loaded->p_offset;
        module->segments[module->segment_count].address = loaded->p_vaddr;
        module->segments[module->segment_count++].bytes = loaded->p_filesz;
        end = loaded->p_vaddr + loaded->p_memsz > end ? loaded->p_vaddr + loaded->p_memsz : end;
    }
    /* No real program has more; the ranges of all must fit into the addresses that there are. */
    const uint64_t most = UINT64_C(1) << 32;
    if (module->segment_count == 0 || end <= module->least || end - module->least > most) {
        return -ENOEXEC;
    }
    module->bytes = end - module->least;
    return 0;
}

void modules_let_go(struct modules *modules, struct module *module) {
    if (module->file >= 0) {
        close(module->file);
        module->file = -1;
        modules->open--;
    }
}

int modules_of_file(struct modules *modules, const char *path, const struct module_identity *identity,
                    pid_t process) {
    int place = find(modules, path, identity, 0);
    struct module *module = place == MODULE_NONE ? add(modules, path, identity, 0) : NULL;
    if (module == NULL) {
        return place;
    }
    module->file = open_file(path, identity, process);
    modules->open += module->file >= 0;
    module->error = module->file < 0 ? module->file : read_segments(module);
    if (module->error != 0) {
        modules_let_go(modules, module);
        /* Addresses in it are told by where they are in the file, of whatever length that is. */
        module->bytes = UINT64_C(1) << 32;
    }
    return settle(modules, module);
}

int modules_of_code(struct modules *modules, pid_t process) {
    static const struct module_identity NONE = {.build_id_bytes = 0};
    int place = find(modules, "", &NONE, process);
    struct module *module = place == MODULE_NONE ? add(modules, "", &NONE, process) : NULL;
    if (module == NULL) {
        return place;
    }
    module->bytes = UINT64_C(1) << 47;
    return settle(modules, module);
}

uint64_t module_address(const struct module *module, uint64_t offset) {
    if (module->process != 0 || module->error != 0) {
        return offset < module->bytes ? module->base + offset : 0;
    }
    for (size_t i = 0; i < module->segment_count; i++) {
        uint64_t within = offset - module->segments[i].offset;
        if (offset >= module->segments[i].offset && within < module->segments[i].bytes) {
            return module->base + (module->segments[i].address + within - module->least);
        }
    }
    return 0;
}

/* Bases ascend with their places. */
const struct module *modules_at(const struct modules *modules, uint64_t address) {
    size_t low = 0;
    size_t high = modules->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (modules->module[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct module *module = low > 0 ? &modules->module[low - 1] : NULL;
    return module != NULL && address - module->base < module->bytes ? module : NULL;
}

void modules_free(struct modules *modules) {
    for (size_t i = 0; i < modules->count; i++) {
        modules_let_go(modules, &modules->module[i]);
        free(modules->module[i].path);
    }
    free(modules->module);
    free(modules->slots);
    *modules = (struct modules){.module = NULL};
}
