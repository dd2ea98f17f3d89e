/* PHP: `zend_extension` of an ini file loads this. Its start sets the function by which the engine calls
 * functions that are not written in PHP (zend_execute_internal), and then fails: the engine forgets the
 * extension, so that no list of a program's has it. Functions that start a process are noted; the place in
 * the program is what the engine names in its messages.
 *
 * Layouts are those of Zend/zend_extensions.h, zend_compile.h and zend_types.h from PHP 7.0 on. */
#include <string.h>

#include "hooks/call.h"

enum { SUCCESS = 0, FAILURE = -1, OLDEST_ENGINE = 320151012, TEXT_BYTES = 256, CODE_OF_USER = 2 };

struct php_text {
    unsigned reference_count, type;
    size_t hash, length;
    char text[];
};

struct php_function {
    unsigned char type;
    unsigned flags;
    const struct php_text *name;
};

struct php_call {
    const void *operation, *call, *result;
    const struct php_function *function;
    char self[16];
    const struct php_call *previous;
};

typedef void php_execute(struct php_call *call, void *result);

static int engine;
static php_execute **execute, *before;
static const char *(*get_file)(void);
static unsigned (*get_line)(void);

/* Every call of a function that is not written in PHP comes here: most are refused by their length. */
static bool makes_process(const struct php_text *name) {
    switch (name->length) {
    case sizeof "exec" - 1:
        return memcmp(name->text, "exec", name->length) == 0 || memcmp(name->text, "mail", name->length) == 0;
    case sizeof "popen" - 1:
        return memcmp(name->text, "popen", name->length) == 0;
    case sizeof "system" - 1:
        return memcmp(name->text, "system", name->length) == 0;
    case sizeof "passthru" - 1:
        return memcmp(name->text, "passthru", name->length) == 0;
    case sizeof "proc_open" - 1:
        return memcmp(name->text, "proc_open", name->length) == 0;
    case sizeof "shell_exec" - 1:
        return memcmp(name->text, "shell_exec", name->length) == 0 ||
               memcmp(name->text, "pcntl_fork", name->length) == 0;
    default:
        return false;
    }
}

/* The function of the program that is running; outside of all of them there is none. */
static const char *running_function(const struct php_call *call) {
    while (call != NULL && (call->function == NULL || (call->function->type & 1) != 0)) {
        call = call->previous;
    }
    return call != NULL && call->function->name != NULL ? call->function->name->text : "{main}";
}

static void note(struct php_call *php_call, void *result) {
    const struct php_text *name = php_call->function != NULL ? php_call->function->name : NULL;
    if (name != NULL && makes_process(name)) {
        struct call call;
        const struct call_frame frame = {.module = "",
                                         .function = running_function(php_call->previous),
                                         .file = get_file(),
                                         .line = get_line()};
        call_begin(&call, "php", "process", name->text);
        (void)call_add(&call, &frame);
        call_write(&call);
    }
    before(php_call, result);
}

/* It says so itself which versions it fits. */
static int fits_engine(int version) {
    engine = version;
    return SUCCESS;
}

static int fits_build(const char *build) {
    (void)build;
    return SUCCESS;
}

static int start(void *extension) {
    (void)extension;
    php_execute *usual;
    *(void **)&execute = call_symbol("zend_execute_internal");
    *(void **)&usual = call_symbol("execute_internal");
    *(void **)&get_file = call_symbol("zend_get_executed_filename");
    *(void **)&get_line = call_symbol("zend_get_executed_lineno");
    if (engine >= OLDEST_ENGINE && execute != NULL && usual != NULL && get_file != NULL && get_line != NULL &&
        *execute != note && call_wanted()) {
        before = *execute != NULL ? *execute : usual;
        *execute = note;
    }
    return FAILURE;
}

/* What the engine looks for. */
struct php_extension {
    const char *name, *version, *author, *address, *copyright;
    int (*start)(void *extension);
    void *handlers[10];
    int (*fits_engine)(int version);
    int (*fits_build)(const char *build);
    void *more[16];
};

struct php_version {
    int engine;
    const char *build;
};

extern struct php_version extension_version_info;
struct php_version extension_version_info = {.engine = 0, .build = ""};

extern struct php_extension zend_extension_entry;
struct php_extension zend_extension_entry = {
    .name = "clonometer",
    .version = "",
    .author = "",
    .address = "",
    .copyright = "",
    .start = start,
    .fits_engine = fits_engine,
    .fits_build = fits_build,
};
