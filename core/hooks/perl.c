/* Perl: its own loader opens this (ClonometerCalls.pm), and calls `clonometer_perl_begin`, which adds a
 * handler that runs before each fork. system, exec by a pipe, backticks and fork are forks of the C library
 * in Perl.
 *
 * Perl's functions give what it has of the running statement (Perl_mess, Perl_caller_cx, Perl_cv_name:
 * perlapi). The handler executes no Perl: an alarm that ends in `die` must not end in a fork. Where a
 * caller's statement has its line, no function says, and layouts differ between versions. So they are tried
 * at the begin, at a call whose line and file are known: what does not fit is left out. All such reading is
 * done by the kernel, which refuses an address that is none. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hooks/call.h"

/* Where members of Perl's structures may be, on 64-bit machines and in interpreters with threads. */
enum {
    CONTEXT_BYTES = 128,
    STATEMENT_BYTES = 80,
    OPERATION_TYPE = 32,
    OPERATION_TYPE_BITS = 0x1ff,
    INTERPRETER_OPERATION = 8,
    CONTEXT_TYPE_BITS = 0xf,
    TEXT_BYTES = 512,
    LIBRARY_BYTES = 4096,
    KNOWN_LINE = 4711, /* ClonometerCalls.pm calls at this line of this file */
};
#define KNOWN_FILE "ClonometerCalls"

/* Where a context has the statement that was called from, and the sub; where a statement has its line and
 * file.
 */
struct layout {
    size_t statement;
    size_t sub;
    size_t line;
    size_t file;
};

typedef void interpreter;

static interpreter *(*get_interpreter)(void);
static void *(*message)(interpreter *perl, const char *format, ...);
static const char *(*text_of)(interpreter *perl, void *scalar, size_t *length, int flags);
static const void *(*caller)(interpreter *perl, int level, const void **debugger);
static void *(*name_of)(interpreter *perl, void *sub, void *into, unsigned flags);
static const char *const *operation_names;
/* What was found at the begin; with a line of 0 nothing. */
static struct layout layout;
static uint8_t sub_type;
static char libraries[LIBRARY_BYTES]; /* their folders, each with its end of line */

static bool read_bytes(const void *address, size_t offset, void *into, size_t bytes) {
    struct iovec local = {.iov_base = into, .iov_len = bytes};
    struct iovec remote = {.iov_len = bytes};
    const char *place = (const char *)address + offset;
    memcpy(&remote.iov_base, &place, sizeof place);
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* A text of at most TEXT_BYTES - 1, which need not be followed by as many readable bytes. */
static bool read_text(const char *address, char *into) {
    for (size_t length = 0; length < TEXT_BYTES; length++) {
        if (!read_bytes(address, length, &into[length], 1)) {
            return false;
        }
        if (into[length] == '\0') {
            return true;
        }
    }
    return false;
}

static bool caller_place(const void *context, const struct layout *at, char *file, long *line) {
    const void *statement;
    const char *name;
    uint32_t number;
    if (!read_bytes(context, at->statement, &statement, sizeof statement) ||
        !read_bytes(statement, at->line, &number, sizeof number) ||
        !read_bytes(statement, at->file, &name, sizeof name) || !read_text(name, file)) {
        return false;
    }
    *line = (long)number;
    return true;
}

/* " at FILE line 12.\n", or with ", <HANDLE> line 3" before the stop: what Perl ends its messages by. */
static bool running_place(interpreter *perl, char *file, long *line) {
    size_t length = 0;
    const char *text = text_of(perl, message(perl, "%s", ""), &length, 0);
    const char *begin = text != NULL ? strstr(text, "at ") : NULL;
    const char *end = begin != NULL ? strstr(begin, " line ") : NULL;
    if (end == NULL || (size_t)(end - begin - 3) >= TEXT_BYTES) {
        return false;
    }
    memcpy(file, begin + 3, (size_t)(end - begin - 3));
    file[end - begin - 3] = '\0';
    *line = strtol(end + strlen(" line "), NULL, 10);
    return true;
}

/* The name of the running operation, as Perl has it: fork, system, backtick, open, entersub. */
static const char *operation(interpreter *perl) {
    const void *running;
    uint16_t type;
    bool known = operation_names != NULL &&
                 read_bytes(perl, INTERPRETER_OPERATION, &running, sizeof running) &&
                 read_bytes(running, OPERATION_TYPE, &type, sizeof type);
    return known ? operation_names[type & OPERATION_TYPE_BITS] : "fork";
}

static bool is_library(const char *file) {
    for (const char *folder = libraries; *folder != '\0';) {
        size_t length = strcspn(folder, "\n");
        if (length > 0 && strncmp(file, folder, length) == 0) {
            return true;
        }
        folder += length + (folder[length] != '\0');
    }
    return false;
}

/* "Module::Of::function", or "main" outside of all subs. */
static const char *sub_name(interpreter *perl, const void *context) {
    uint8_t type;
    void *sub;
    size_t length;
    if (context == NULL || name_of == NULL || !read_bytes(context, 0, &type, sizeof type) ||
        (type & CONTEXT_TYPE_BITS) != sub_type || !read_bytes(context, layout.sub, &sub, sizeof sub)) {
        return context == NULL ? "main" : "(eval)";
    }
    void *name = name_of(perl, sub, NULL, 0);
    return name != NULL ? text_of(perl, name, &length, 0) : "";
}

static void before_fork(void) {
    struct call call;
    int error = errno;
    char file[TEXT_BYTES];
    long line;
    interpreter *perl = get_interpreter();
    if (perl != NULL && running_place(perl, file, &line)) {
        const char *event = operation(perl);
        call_begin(&call, "perl", "process", strcmp(event, "backtick") == 0 ? "readpipe" : event);
        for (int level = 0;; level++) {
            const void *context = layout.line != 0 ? caller(perl, level, NULL) : NULL;
            const struct call_frame frame = {.library = is_library(file),
                                             .module = "",
                                             .function = layout.line != 0 ? sub_name(perl, context) : "",
                                             .file = file,
                                             .line = line};
            if (!call_add(&call, &frame) || context == NULL || !caller_place(context, &layout, file, &line)) {
                break;
            }
        }
        call_write(&call);
    }
    errno = error;
}

static bool find_sub_in(const void *context, const void *check, size_t *place) {
    for (*place = 0; *place < CONTEXT_BYTES; *place += sizeof(void *)) {
        const void *sub;
        if (read_bytes(context, *place, &sub, sizeof sub) && sub == check) {
            return true;
        }
    }
    return false;
}

static bool find_statement(const void *context, struct layout *at) {
    char file[TEXT_BYTES];
    long line;
    for (at->statement = 0; at->statement < CONTEXT_BYTES; at->statement += sizeof(void *)) {
        for (at->line = 0; at->line < STATEMENT_BYTES; at->line += sizeof(uint32_t)) {
            const void *statement;
            uint32_t number;
            if (!read_bytes(context, at->statement, &statement, sizeof statement) ||
                !read_bytes(statement, at->line, &number, sizeof number) || number != KNOWN_LINE) {
                continue;
            }
            for (at->file = 0; at->file < STATEMENT_BYTES; at->file += sizeof(void *)) {
                if (caller_place(context, at, file, &line) && strcmp(file, KNOWN_FILE) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* The call of ClonometerCalls::check, which calls us, is at a line that is known. */
static void find_layout(interpreter *perl, const void *check) {
    struct layout looked_up;
    const void *context = caller(perl, 0, NULL);
    if (context != NULL && check != NULL && read_bytes(context, 0, &sub_type, sizeof sub_type) &&
        find_sub_in(context, check, &looked_up.sub) && find_statement(context, &looked_up)) {
        sub_type &= CONTEXT_TYPE_BITS;
        layout = looked_up;
    }
}

static void take_libraries(interpreter *perl, void *scalar) {
    size_t length = 0;
    const char *text = scalar != NULL ? text_of(perl, scalar, &length, 0) : NULL;
    if (text != NULL && length < sizeof libraries) {
        memcpy(libraries, text, length);
    }
}

/* An external subroutine of Perl's, called without words. Builds without threads have no interpreter to pass:
 * their functions are called in another way, and they are left alone. */
extern void clonometer_perl_begin(interpreter *perl, void *sub);
void clonometer_perl_begin(interpreter *perl, void *sub) {
    (void)sub;
    void *(*find_sub)(interpreter *perl, const char *name, int flags);
    void *(*find_scalar)(interpreter *perl, const char *name, int flags);
    static bool begun;
    *(void **)&find_sub = call_symbol("Perl_get_cv");
    *(void **)&find_scalar = call_symbol("Perl_get_sv");
    *(void **)&get_interpreter = call_symbol("Perl_get_context");
    *(void **)&message = call_symbol("Perl_mess");
    *(void **)&text_of = call_symbol("Perl_sv_2pv_flags");
    *(void **)&caller = call_symbol("Perl_caller_cx");
    *(void **)&name_of = call_symbol("Perl_cv_name");
    operation_names = call_symbol("PL_op_name");
    if (begun || call_symbol("PL_curcop") != NULL || get_interpreter == NULL || message == NULL ||
        text_of == NULL || find_sub == NULL || find_scalar == NULL || !call_wanted()) {
        return;
    }
    if (strcmp(operation(perl), "entersub") != 0) {
        operation_names = NULL;
    }
    take_libraries(perl, find_scalar(perl, "ClonometerCalls::libraries", 0));
    if (caller != NULL) {
        find_layout(perl, find_sub(perl, "ClonometerCalls::check", 0));
    }
    begun = pthread_atfork(before_fork, NULL, NULL) == 0;
}
