/* Bash: `enable -f` loads this as a builtin, which adds a handler that runs before each fork. All that makes
 * a task in Bash is a fork of its own: commands, pipelines, subshells, substitutions, jobs.
 *
 * The builtin itself does nothing. Bash's functions are of its own plug-in interface (examples/loadables of
 * its sources), the layout of a variable is that of variables.h since version 2. */
#include <pthread.h>
#include <stdint.h>

#include "hooks/call.h"

/* What `enable -f` looks for (builtins.h): name, function, flags, help, usage, handle. */
struct bash_builtin {
    const char *name;
    int (*function)(void *words);
    int flags;
    const char *const *help;
    const char *usage;
    char *handle;
};

struct bash_variable {
    char *name;
    void *value;
    char *export_text;
    void *dynamic_value;
    void *assign;
    int attributes;
    int context;
};

enum { BUILTIN_ENABLED = 1, VARIABLE_ARRAY = 4 };

static int (*executing_line)(void);
static struct bash_variable *(*find_variable)(const char *name);
static char *(*array_item)(void *array, intmax_t index);

static const char *item(const struct bash_variable *array, intmax_t index) {
    return array != NULL ? array_item(array->value, index) : NULL;
}

/* NULL where the script has made something else of it. */
static const struct bash_variable *array_named(const char *name) {
    const struct bash_variable *variable = find_variable(name);
    bool is_array =
        variable != NULL && (variable->attributes & VARIABLE_ARRAY) != 0 && variable->value != NULL;
    return is_array ? variable : NULL;
}

static long number(const char *text) {
    long value = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && value < INT32_MAX; text++) {
        value = 10 * value + (*text - '0');
    }
    return value;
}

static void before_fork(void) {
    struct call call;
    const struct bash_variable *files = array_named("BASH_SOURCE");
    const struct bash_variable *functions = array_named("FUNCNAME");
    const struct bash_variable *lines = array_named("BASH_LINENO");
    call_begin(&call, "bash", "process", "fork");
    long line = executing_line();
    for (intmax_t i = 0; i == 0 || item(files, i) != NULL; i++) {
        const char *function = item(functions, i);
        const struct call_frame frame = {.module = "",
                                         .function = function != NULL ? function : "main",
                                         .file = item(files, i) != NULL ? item(files, i) : "bash -c",
                                         .line = line};
        if (!call_add(&call, &frame)) {
            break;
        }
        line = number(item(lines, i));
    }
    call_write(&call);
}

static int does_nothing(void *words) {
    (void)words;
    return 0;
}

static const char *const HELP[] = {"Names lines for clonometer census.", NULL};

extern struct bash_builtin clonometer_calls_struct;
struct bash_builtin clonometer_calls_struct = {
    .name = "clonometer_calls",
    .function = does_nothing,
    .flags = BUILTIN_ENABLED,
    .help = HELP,
    .usage = "clonometer_calls",
};

/* Called as it is loaded. */
extern int clonometer_calls_builtin_load(const char *name);
int clonometer_calls_builtin_load(const char *name) {
    (void)name;
    static bool loaded;
    *(void **)&executing_line = call_symbol("executing_line_number");
    *(void **)&find_variable = call_symbol("find_variable");
    *(void **)&array_item = call_symbol("array_reference");
    if (!loaded && executing_line != NULL && find_variable != NULL && array_item != NULL && call_wanted()) {
        loaded = pthread_atfork(before_fork, NULL, NULL) == 0;
    }
    return 1;
}
