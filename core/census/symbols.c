#include "census/symbols.h"

#include "census/code_names.h"

/* A census ends with the naming of its sites, for which nobody waits long: some two seconds. */
enum { MOST_UNITS = 2000000 };

/* libdw finds a unit by a table that Go and clang leave out: look at each unit instead. */
static void find_line(struct unwinder *unwinder, struct libdw_module *module, uint64_t address,
                      struct symbol *symbol) {
    const struct libdw *libdw = &unwinder->libdw;
    uint64_t bias = 0;
    struct libdw_unit *unit = libdw->module_nextcu(module, NULL, &bias);
    while (unit != NULL && libdw->haspc(unit, address - bias) <= 0 && unwinder->units++ < MOST_UNITS) {
        unit = libdw->module_nextcu(module, unit, &bias);
    }
    struct libdw_place *place = unit == NULL ? NULL : libdw->getsrc_die(unit, address - bias);
    if (place != NULL && libdw->lineno(place, &symbol->line) == 0) {
        symbol->file = libdw->linesrc(place, NULL, NULL);
    }
}

static void name(struct unwinder *unwinder, struct libdw_module *module, uint64_t address,
                 struct symbol *symbol) {
    const struct libdw *libdw = &unwinder->libdw;
    Elf64_Sym entry;
    uint64_t start = 0;
    const char *function = libdw->module_addrinfo(module, address, &symbol->plus, &entry, NULL, NULL, NULL);
    symbol->function = function != NULL && function[0] != '\0' ? function : NULL;
    struct libdw_line *line = libdw->module_getsrc(module, address);
    if (line != NULL) {
        symbol->file = libdw->lineinfo(line, &start, &symbol->line, NULL, NULL, NULL);
    } else {
        find_line(unwinder, module, address, symbol);
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
    libdw_works(true);
    struct libdw_module *reported = unwinder_module(unwinder, module);
    if (module->process > 0) {
        symbol.function = code_name(module->process, symbol.offset - returns, &symbol.plus);
        symbol.plus += symbol.function != NULL && returns;
    } else if (reported != NULL) {
        name(unwinder, reported, named, &symbol);
        symbol.plus += returns;
    }
    libdw_works(false);
    return symbol;
}
