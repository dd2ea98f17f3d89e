#include "census/modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_ROOM = 64, MOST_PATH = 4096, MOST_HEADERS = 64, PAGE = 4096, GAP = 1 << 20 };

/* Beyond all addresses that a process may have: no word of a stack that was not translated is taken for one.
 */
static const uint64_t FIRST_BASE = UINT64_C(1) << 56;

static struct module *add(struct modules *modules, const char *path) {
    if (modules->count == MODULES_MOST) {
        return NULL;
    }
    if (modules->count == modules->room) {
        size_t room = modules->room > 0 ? 2 * modules->room : FIRST_ROOM;
        struct module *more = realloc(modules->module, room * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        modules->module = more;
        modules->room = room;
    }
    struct module *module = &modules->module[modules->count];
    *module = (struct module){.path = strdup(path), .file = -1};
    return module->path != NULL ? module : NULL;
}

/* Gives it its range, and makes it one of them. */
static int settle(struct modules *modules, struct module *module) {
    modules->next_base = modules->next_base != 0 ? modules->next_base : FIRST_BASE;
    module->base = modules->next_base;
    modules->next_base += (module->bytes + GAP + PAGE - 1) / PAGE * PAGE;
    return (int)modules->count++;
}

static bool is_file(const char *path, const struct module_identity *identity) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    /* Overlays and btrfs tell mappings other devices than stat: the number is what must agree. A build id is
     * compared by who reads the file's notes. */
    return identity->build_id_bytes > 0 || identity->number == 0 || status.st_ino == identity->number;
}

static int open_file(const char *path, const struct module_identity *identity, pid_t process) {
    char within[MOST_PATH];
    snprintf(within, sizeof within, "/proc/%d/root%s", (int)process, path);
    const char *const places[] = {within, path};
    int error = -ENOENT;
    for (size_t i = 0; i < 2; i++) {
        /* To open a device or a pipe of this name might do something, or hold us up. */
        int file = is_file(places[i], identity) ? open(places[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        if (file >= 0) {
            return file;
        }
        error = access(places[i], F_OK) == 0 ? -ESTALE : error;
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

static bool same_identity(const struct module_identity *left, const struct module_identity *right) {
    return left->build_id_bytes == right->build_id_bytes &&
           memcmp(left->build_id, right->build_id, left->build_id_bytes) == 0 &&
           left->device == right->device && left->number == right->number;
}

int modules_of_file(struct modules *modules, const char *path, const struct module_identity *identity,
                    pid_t process) {
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->module[i];
        if (module->process == 0 && same_identity(&module->identity, identity) &&
            strcmp(module->path, path) == 0) {
            return (int)i;
        }
    }
    struct module *module = add(modules, path);
    if (module == NULL) {
        return MODULE_NONE;
    }
    module->identity = *identity;
    module->file = open_file(path, identity, process);
    module->error = module->file < 0 ? module->file : read_segments(module);
    if (module->error != 0 && module->file >= 0) {
        close(module->file);
        module->file = -1;
    }
    if (module->error != 0) {
        /* Addresses in it are told by where they are in the file, of whatever length that is. */
        module->bytes = UINT64_C(1) << 32;
    }
    return settle(modules, module);
}

int modules_of_code(struct modules *modules, pid_t process) {
    for (size_t i = 0; i < modules->count; i++) {
        if (modules->module[i].process == process) {
            return (int)i;
        }
    }
    struct module *module = add(modules, "");
    if (module == NULL) {
        return MODULE_NONE;
    }
    module->process = process;
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
        free(modules->module[i].path);
        if (modules->module[i].file >= 0) {
            close(modules->module[i].file);
        }
    }
    free(modules->module);
    *modules = (struct modules){.module = NULL};
}
