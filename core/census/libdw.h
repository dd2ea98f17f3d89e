/* The part of elfutils' libdw that unwinds stacks and names addresses. The library is opened where it is
 * installed, and the program does without it where it is not: so it is not linked, and its headers are not
 * needed. Source of the declarations: elfutils/libdwfl.h, whose symbols are versioned and do not change. */
#ifndef CLONOMETER_CENSUS_LIBDW_H
#define CLONOMETER_CENSUS_LIBDW_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/reason.h"

struct libdw_session; /* Dwfl */
struct libdw_module;  /* Dwfl_Module */
struct libdw_thread;  /* Dwfl_Thread */
struct libdw_frame;   /* Dwfl_Frame */
struct libdw_line;    /* Dwfl_Line */
struct libdw_unit;    /* Dwarf_Die of a compilation unit */
struct libdw_place;   /* Dwarf_Line */
struct libdw_elf;     /* Elf */

struct libdw_files {
    int (*find_elf)(struct libdw_module *module, void **user, const char *name, uint64_t base, char **path,
                    struct libdw_elf **elf);
    int (*find_debuginfo)(struct libdw_module *module, void **user, const char *name, uint64_t base,
                          const char *path, const char *link, uint32_t checksum, char **path_of_it);
    void *section_address;
    char **debuginfo_path;
};

struct libdw_threads {
    pid_t (*next_thread)(struct libdw_session *session, void *argument, void **thread_argument);
    bool (*get_thread)(struct libdw_session *session, pid_t thread, void *argument, void **thread_argument);
    bool (*memory_read)(struct libdw_session *session, uint64_t address, uint64_t *word, void *argument);
    bool (*set_initial_registers)(struct libdw_thread *thread, void *thread_argument);
    void (*detach)(struct libdw_session *session, void *argument);
    void (*thread_detach)(struct libdw_thread *thread, void *thread_argument);
};

enum { LIBDW_GO_ON, LIBDW_STOP };

typedef int libdw_meet_frame(struct libdw_frame *frame, void *argument);

struct libdw {
    struct libdw_session *(*begin)(const struct libdw_files *files);
    void (*report_begin_add)(struct libdw_session *session);
    struct libdw_module *(*report_module)(struct libdw_session *session, const char *name, uint64_t start,
                                          uint64_t end);
    const char *(*module_info)(struct libdw_module *module, void ***user, uint64_t *start, uint64_t *end,
                               uint64_t *dwarf_bias, uint64_t *symbol_bias, const char **file,
                               const char **debug_file);
    int (*report_end)(struct libdw_session *session, void *removed, void *argument);
    bool (*attach_state)(struct libdw_session *session, struct libdw_elf *elf, pid_t process,
                         const struct libdw_threads *threads, void *argument);
    int (*getthread_frames)(struct libdw_session *session, pid_t thread, libdw_meet_frame *meet,
                            void *argument);
    bool (*frame_pc)(struct libdw_frame *frame, uint64_t *pc, bool *is_activation);
    bool (*thread_state_registers)(struct libdw_thread *thread, int first, unsigned count,
                                   const uint64_t *registers);
    void (*thread_state_register_pc)(struct libdw_thread *thread, uint64_t pc);
    struct libdw_elf *(*module_getelf)(struct libdw_module *module, uint64_t *bias);
    void *(*module_eh_cfi)(struct libdw_module *module, uint64_t *bias);
    int (*cfi_addrframe)(void *table, uint64_t address, void **frame); /* of malloc */
    int (*module_build_id)(struct libdw_module *module, const unsigned char **bits, uint64_t *address);
    const char *(*module_addrinfo)(struct libdw_module *module, uint64_t address, uint64_t *offset,
                                   void *symbol, unsigned *section, struct libdw_elf **elf, uint64_t *bias);
    struct libdw_line *(*module_getsrc)(struct libdw_module *module, uint64_t address);
    const char *(*lineinfo)(struct libdw_line *line, uint64_t *address, int *number, int *column,
                            uint64_t *changed, uint64_t *length);
    struct libdw_unit *(*module_nextcu)(struct libdw_module *module, struct libdw_unit *last, uint64_t *bias);
    int (*haspc)(struct libdw_unit *unit, uint64_t address);
    struct libdw_place *(*getsrc_die)(struct libdw_unit *unit, uint64_t address);
    const char *(*linesrc)(struct libdw_place *place, uint64_t *changed, uint64_t *length);
    int (*lineno)(struct libdw_place *place, int *number);
    int (*standard_find_debuginfo)(struct libdw_module *module, void **user, const char *name, uint64_t base,
                                   const char *path, const char *link, uint32_t checksum, char **path_of_it);
    /* Of libelf, which it has loaded. */
    unsigned (*elf_version)(unsigned version);
    struct libdw_elf *(*elf_begin)(int file, int how, struct libdw_elf *archive);
    int (*elf_cntl)(struct libdw_elf *elf, int command);
    int (*error)(void);
    const char *(*message)(int error);
    void (*end)(struct libdw_session *session);
};

/* Opens the library, for good: it has memory of each thread, which must not outlive it. 0, or -ENOENT with
 * the reason, which names its package. */
int libdw_open(struct libdw *libdw, struct reason *reason);

/* Around all that it does with files of strangers: so long it opens regular files alone (libdw_files.c). */
void libdw_works(bool begins);

#endif
