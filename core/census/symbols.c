#include "census/symbols.h"

#include "census/code_names.h"

static void name(const struct libdw *libdw, struct libdw_module *module, uint64_t address,
                 struct symbol *symbol) {
    Elf64_Sym entry;
    uint64_t start = 0;
    const char *function = libdw->module_addrinfo(module, address, &symbol->plus, &entry, NULL, NULL, NULL);
    symbol->function = function != NULL && function[0] != '\0' ? function : NULL;
    struct libdw_line *line = libdw->module_getsrc(module, address);
    if (line != NULL) {
        symbol->file = libdw->lineinfo(line, &start, &symbol->line, NULL, NULL, NULL);
    }
}

struct symbol symbol_of(struct unwinder *unwinder, uint64_t address, bool returns) {
    uint64_t named = address - returns;
    const struct module *module = modules_at(&unwinder->spaces->modules, named);
    struct symbol symbol = {.module = module};
    if (module == NULL) {
        return symbol;
    }
    symbol.offset = address - module->base + module->least;
    struct libdw_module *reported = unwinder_module(unwinder, module);
    if (module->process > 0) {
        symbol.function = code_name(module->process, symbol.offset - returns, &symbol.plus);
        symbol.plus += symbol.function != NULL && returns;
    } else if (reported != NULL) {
        name(&unwinder->libdw, reported, named, &symbol);
        symbol.plus += returns;
    }
    return symbol;
}
