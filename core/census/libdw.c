#include "census/libdw.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#define NAME "libdw.so.1"

/* Data pointers are function pointers here, as POSIX demands of dlsym. */
static const struct {
    const char *name;
    size_t offset;
} SYMBOLS[] = {
    {"dwfl_begin", offsetof(struct libdw, begin)},
    {"dwfl_report_begin_add", offsetof(struct libdw, report_begin_add)},
    {"dwfl_report_module", offsetof(struct libdw, report_module)},
    {"dwfl_module_info", offsetof(struct libdw, module_info)},
    {"dwfl_report_end", offsetof(struct libdw, report_end)},
    {"dwfl_attach_state", offsetof(struct libdw, attach_state)},
    {"dwfl_getthread_frames", offsetof(struct libdw, getthread_frames)},
    {"dwfl_frame_pc", offsetof(struct libdw, frame_pc)},
    {"dwfl_thread_state_registers", offsetof(struct libdw, thread_state_registers)},
    {"dwfl_thread_state_register_pc", offsetof(struct libdw, thread_state_register_pc)},
    {"dwfl_module_getelf", offsetof(struct libdw, module_getelf)},
    {"dwfl_module_eh_cfi", offsetof(struct libdw, module_eh_cfi)},
    {"dwarf_cfi_addrframe", offsetof(struct libdw, cfi_addrframe)},
    {"dwfl_module_build_id", offsetof(struct libdw, module_build_id)},
    {"dwfl_module_addrinfo", offsetof(struct libdw, module_addrinfo)},
    {"dwfl_module_getsrc", offsetof(struct libdw, module_getsrc)},
    {"dwfl_lineinfo", offsetof(struct libdw, lineinfo)},
    {"dwfl_module_nextcu", offsetof(struct libdw, module_nextcu)},
    {"dwarf_haspc", offsetof(struct libdw, haspc)},
    {"dwarf_getsrc_die", offsetof(struct libdw, getsrc_die)},
    {"dwarf_linesrc", offsetof(struct libdw, linesrc)},
    {"dwarf_lineno", offsetof(struct libdw, lineno)},
    {"dwfl_standard_find_debuginfo", offsetof(struct libdw, standard_find_debuginfo)},
    {"elf_version", offsetof(struct libdw, elf_version)},
    {"elf_begin", offsetof(struct libdw, elf_begin)},
    {"elf_cntl", offsetof(struct libdw, elf_cntl)},
    {"dwfl_errno", offsetof(struct libdw, error)},
    {"dwfl_errmsg", offsetof(struct libdw, message)},
    {"dwfl_end", offsetof(struct libdw, end)},
};

int libdw_open(struct libdw *libdw, struct reason *reason) {
    void *library = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return reason_set(reason, -ENOENT,
                          NAME
                          " of elfutils is not installed: on Debian and Ubuntu it is in libdw1 or "
                          "libdw1t64, on Fedora in elfutils-libs, on Arch in libelf, on Alpine in libelf");
    }
    for (size_t i = 0; i < sizeof SYMBOLS / sizeof SYMBOLS[0]; i++) {
        void *symbol = dlsym(library, SYMBOLS[i].name);
        if (symbol == NULL) {
            return reason_set(reason, -ENOENT, NAME " is older than 0.158 and has no %s", SYMBOLS[i].name);
        }
        *(void **)((char *)libdw + SYMBOLS[i].offset) = symbol;
    }
    return 0;
}
