/* Files of which code was mapped, each once, however many processes map it and wherever. A module has a range
 * of addresses that no other has, and every address of its code is written as one of that range: so the
 * stacks of all processes are unwound in one address space, and two calls from one place are equal, whatever
 * the kernel has drawn for the places of files and stacks. */
#ifndef CLONOMETER_CENSUS_MODULES_H
#define CLONOMETER_CENSUS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MODULES_MOST = 8192, MODULE_BUILD_ID = 20, MODULE_NONE = -1 };

/* What tells one file from another of its name. */
struct module_identity {
    unsigned char build_id[MODULE_BUILD_ID];
    size_t build_id_bytes; /* 0: device and number of the file instead */
    uint64_t device;
    uint64_t number;
};

enum { MODULE_MOST_SEGMENTS = 8 };

struct module {
    char *path; /* as the process that mapped it named it */
    struct module_identity identity;
    uint64_t base; /* of its range */
    uint64_t bytes;
    uint64_t least; /* the address in the file that is at `base` */
    struct {
        uint64_t offset;
        uint64_t address;
        uint64_t bytes;
    } segments[MODULE_MOST_SEGMENTS]; /* that the file loads */
    size_t segment_count;
    int file;       /* open, until who unwinds has it (modules_let_go); -1: there is none */
    int error;      /* why it cannot be read; 0: it can */
    pid_t process;  /* of code that is in no file: whose; else 0 */
    void *reported; /* for whoever unwinds */
};

/* More open files than this are let go. */
enum { MODULES_MOST_OPEN = 256 };

struct modules {
    struct module *module;
    size_t count;
    size_t room;
    uint32_t *slots; /* place + 1 of each, by what it is found by; twice `room` of them */
    size_t open;     /* files */
    uint64_t next_base;
};

/* The place of the module, which is made where it is new: the file as `process` sees it is opened, or that of
 * this name here. MODULE_NONE without memory or room. */
int modules_of_file(struct modules *modules, const char *path, const struct module_identity *identity,
                    pid_t process);

/* The same of all code of a process that no file has, as just-in-time compilers write it; the place in the
 * file is the address. */
int modules_of_code(struct modules *modules, pid_t process);

/* Closes its file, if it is open. */
void modules_let_go(struct modules *modules, struct module *module);

/* The module's address of what lies `offset` into its file; 0: that is not loaded. */
uint64_t module_address(const struct module *module, uint64_t offset);

/* The module that an address of a module's range is in; NULL: in none. */
const struct module *modules_at(const struct modules *modules, uint64_t address);

void modules_free(struct modules *modules);

#endif
