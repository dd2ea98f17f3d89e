/* GNU make: `load` (4.0) finds the function that adds `${clonometer- }` to its functions. The variable
 * IFS has it as its value: make expands that just before it executes a line of a recipe or a $(shell), and in
 * the context of its target (construct_command_argv in src/job.c). It expands to nothing; so it does in a
 * shell, where $(value IFS) hands it on.
 *
 * Where the line is, is said by make's variable `reading_file`, by which its $(warning) says it. */
#include <limits.h>
#include <stdio.h>

#include "hooks/call.h"

struct make_place {
    const char *file;
    unsigned long line;
    unsigned long offset; /* within a recipe; from 4.2 on */
};

extern int plugin_is_GPL_compatible;
int plugin_is_GPL_compatible;

typedef char *make_function(const char *name, unsigned count, char **words);

static const struct make_place *const *reading_file;
static char *(*expand)(const char *text);
static void (*release)(char *text);
static bool has_offset;

static char *note(const char *name, unsigned count, char **words) {
    (void)name;
    (void)count;
    (void)words;
    struct call call;
    const struct make_place *place = *reading_file;
    if (place == NULL || place->file == NULL) {
        return NULL;
    }
    char *target = expand("$@");
    /* Each make of a recursive one has a folder of its own, and names files from there. */
    char *folder = place->file[0] != '/' ? expand("$(CURDIR)/") : NULL;
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s%s", folder != NULL ? folder : "", place->file);
    bool in_recipe = target != NULL && target[0] != '\0';
    const struct call_frame frame = {.module = "",
                                     .function = in_recipe ? target : "$(shell)",
                                     .file = file,
                                     .line = (long)(place->line + (has_offset ? place->offset : 0))};
    call_begin(&call, "make", "process", in_recipe ? "recipe" : "$(shell)");
    (void)call_add(&call, &frame);
    call_write(&call);
    release(target);
    if (folder != NULL) {
        release(folder);
    }
    return NULL;
}

/* Called as it is loaded: not 0 where it is of use. */
extern int clonometer_make_begin(const void *place);
int clonometer_make_begin(const void *place) {
    (void)place;
    void (*add)(const char *name, make_function *function, unsigned least, unsigned most, unsigned flags);
    *(void **)&add = call_symbol("gmk_add_function");
    *(void **)&expand = call_symbol("gmk_expand");
    *(void **)&release = call_symbol("gmk_free");
    *(void **)&reading_file = call_symbol("reading_file");
    if (add == NULL || expand == NULL || release == NULL || reading_file == NULL || !call_wanted()) {
        return 0;
    }
    char *old = expand("$(filter 4.0% 4.1%,$(MAKE_VERSION))");
    has_offset = old != NULL && old[0] == '\0';
    release(old);
    add("clonometer-", note, 0, 0, 0);
    return 1;
}
