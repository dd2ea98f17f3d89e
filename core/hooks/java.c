/* Java: `-agentpath` loads this as an agent (JVMTI), which is asked whenever a native method is bound to its
 * code. The two that make tasks, the start of a process and of a thread, it binds to functions of its own
 * that note the stack and then call that code. Nothing else of a program changes, and no class does.
 *
 * Functions and capabilities of the JVM are known by their numbers, which its specification fixes. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hooks/call.h"

/* Places in the table of functions of the JVMTI, and of the invocation interface. */
enum {
    SET_EVENT_MODE = 1,
    DEALLOCATE = 46,
    GET_CLASS_SIGNATURE = 47,
    GET_SOURCE_FILE = 49,
    GET_METHOD_NAME = 63,
    GET_METHOD_CLASS = 64,
    GET_LINES = 69,
    GET_STACK = 103,
    SET_CALLBACKS = 121,
    ADD_CAPABILITIES = 141,
    VM_GET_ENVIRONMENT = 6,
};
enum { JVMTI_VERSION = 0x30010000, EVENT_FIRST = 50, EVENT_NATIVE_BIND = 67, EVENTS = 37, MODE_ENABLE = 1 };
/* Source files, line numbers, native methods as they are bound. */
enum { CAPABILITIES = UINT32_C(1) << 11 | UINT32_C(1) << 12 | UINT32_C(1) << 30, CAPABILITY_WORDS = 4 };
enum { NAME_BYTES = 512, MOST_DEPTH = 64 };

typedef void function(void);
typedef function *const *const interface; /* an object of C++: its first word is the table of its functions */

struct stack_frame {
    void *method;
    int64_t place;
};

struct line_entry {
    int64_t begin;
    int32_t line;
};

static interface *tool;
static function *forks, *starts;

#define CALL(place, ...) (((int32_t (*)(interface *, __VA_ARGS__))(*tool)[place]))

static void release(char *text) {
    if (text != NULL) {
        (void)CALL(DEALLOCATE, void *)(tool, text);
    }
}

static long line_at(const struct stack_frame *frame) {
    int32_t count = 0;
    struct line_entry *lines = NULL;
    long line = 0;
    if (CALL(GET_LINES, void *, int32_t *, struct line_entry **)(tool, frame->method, &count, &lines) == 0) {
        int64_t begin = -1;
        for (int32_t i = 0; i < count; i++) {
            if (lines[i].begin <= frame->place && lines[i].begin > begin) {
                begin = lines[i].begin;
                line = lines[i].line;
            }
        }
        release((char *)lines);
    }
    return line;
}

/* "Lorg/acme/Main$1;" as "org.acme.Main$1"; the length of the package with its last slash. */
static size_t class_name(const char *signature, char *name) {
    size_t package = 0;
    size_t length = 0;
    for (const char *c = signature + (signature[0] == 'L');
         *c != '\0' && *c != ';' && length < NAME_BYTES - 1; c++) {
        package = *c == '/' ? length + 1 : package;
        name[length++] = *c == '/' ? '.' : *c;
    }
    name[length] = '\0';
    return package;
}

static bool is_library(const char *name) {
    static const char *const PACKAGES[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++) {
        if (strncmp(name, PACKAGES[i], strlen(PACKAGES[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* A method as a frame has it. A file has the folder of its package, as compilers are given it. */
struct method {
    char *signature, *name, *source;
    char class[NAME_BYTES];
    char file[2 * NAME_BYTES];
};

static void forget(struct method *method) {
    release(method->signature);
    release(method->name);
    release(method->source);
    *method = (struct method){.signature = NULL};
}

/* False for what has no name, and for the classes that the JVM makes of lambda expressions. */
static bool look_up(const struct stack_frame *at, struct method *method) {
    void *class = NULL;
    *method = (struct method){.signature = NULL};
    if (CALL(GET_METHOD_CLASS, void *, void **)(tool, at->method, &class) != 0 ||
        CALL(GET_CLASS_SIGNATURE, void *, char **, char **)(tool, class, &method->signature, NULL) != 0 ||
        CALL(GET_METHOD_NAME, void *, char **, char **, char **)(tool, at->method, &method->name, NULL,
                                                                 NULL) != 0 ||
        strstr(method->signature, "$$Lambda") != NULL) {
        forget(method);
        return false;
    }
    (void)CALL(GET_SOURCE_FILE, void *, char **)(tool, class, &method->source);
    int package = (int)class_name(method->signature, method->class);
    snprintf(method->file, sizeof method->file, "%.*s%s", package,
             method->signature + (method->signature[0] == 'L'), method->source != NULL ? method->source : "");
    return true;
}

/* Of calls within the library the outermost is enough, which a program has called. */
static void add_frames(struct call *call, const struct stack_frame *frames, int32_t count) {
    struct call_frame inner = {.function = NULL};
    struct method library = {.signature = NULL};
    struct method method;
    bool more = true;
    for (int32_t i = 0; i < count && more; i++) {
        if (!look_up(&frames[i], &method)) {
            continue;
        }
        struct call_frame frame = {.library = is_library(method.class),
                                   .module = method.class,
                                   .function = method.name,
                                   .file = method.file,
                                   .line = line_at(&frames[i])};
        if (frame.library) {
            forget(&library);
            library = method;
            inner = frame;
            inner.module = library.class;
            inner.file = library.file;
            continue;
        }
        if (inner.function != NULL) {
            (void)call_add(call, &inner);
            inner.function = NULL;
        }
        more = call_add(call, &frame);
        forget(&method);
    }
    if (inner.function != NULL) {
        (void)call_add(call, &inner);
    }
    forget(&library);
}

static void note(const char *makes, const char *event) {
    struct call call;
    struct stack_frame frames[MOST_DEPTH];
    int32_t count = 0;
    int error = errno;
    /* While the JVM itself starts, there is none. */
    if (CALL(GET_STACK, void *, int32_t, int32_t, struct stack_frame *, int32_t *)(tool, NULL, 0, MOST_DEPTH,
                                                                                   frames, &count) == 0) {
        call_begin(&call, "java", makes, event);
        add_frames(&call, frames, count);
        call_write(&call);
    }
    errno = error;
}

typedef int32_t fork_and_exec(void *env, void *self, int32_t mode, void *helper, void *program, void *words,
                              int32_t count, void *variables, int32_t variable_count, void *folder,
                              void *descriptors, uint8_t error_too);

static int32_t note_fork(void *env, void *self, int32_t mode, void *helper, void *program, void *words,
                         int32_t count, void *variables, int32_t variable_count, void *folder,
                         void *descriptors, uint8_t error_too) {
    note("process", "ProcessImpl.forkAndExec");
    return ((fork_and_exec *)forks)(env, self, mode, helper, program, words, count, variables, variable_count,
                                    folder, descriptors, error_too);
}

static void note_start(void *env, void *thread) {
    note("thread", "Thread.start0");
    ((void (*)(void *, void *))starts)(env, thread);
}

/* Methods are known by the names of their code: the JVM has no others yet when it binds the first ones. */
static void bound(interface *from, void *env, void *thread, void *method, void *address, void **instead) {
    Dl_info code;
    (void)from, (void)env, (void)thread, (void)method;
    if (address == NULL || dladdr(address, &code) == 0 || code.dli_sname == NULL ||
        code.dli_saddr != address) {
        return;
    }
    if (strcmp(code.dli_sname, "Java_java_lang_ProcessImpl_forkAndExec") == 0 ||
        strcmp(code.dli_sname, "Java_java_lang_UNIXProcess_forkAndExec") == 0) {
        memcpy(&forks, &address, sizeof address);
        *(int32_t (**)(void *, void *, int32_t, void *, void *, void *, int32_t, void *, int32_t, void *,
                       void *, uint8_t))instead = note_fork;
    } else if (strcmp(code.dli_sname, "JVM_StartThread") == 0) {
        memcpy(&starts, &address, sizeof address);
        *(void (**)(void *, void *))instead = note_start;
    }
}

/* Called as it is loaded. Not 0 would end the JVM. */
extern int32_t Agent_OnLoad(interface *machine, const char *options, void *reserved);
int32_t Agent_OnLoad(interface *machine, const char *options, void *reserved) {
    static const uint32_t capabilities[CAPABILITY_WORDS] = {CAPABILITIES};
    static void *callbacks[EVENTS];
    void (*callback)(interface *, void *, void *, void *, void *, void **) = bound;
    (void)options, (void)reserved;
    memcpy(&callbacks[EVENT_NATIVE_BIND - EVENT_FIRST], &callback, sizeof callback);
    if (!call_wanted() || ((int32_t (*)(interface *, interface **, int32_t))(*machine)[VM_GET_ENVIRONMENT])(
                              machine, &tool, JVMTI_VERSION) != 0) {
        return 0;
    }
    if (CALL(ADD_CAPABILITIES, const uint32_t *)(tool, capabilities) == 0 &&
        CALL(SET_CALLBACKS, void *const *, int32_t)(tool, callbacks, sizeof callbacks) == 0) {
        (void)CALL(SET_EVENT_MODE, int32_t, int32_t, void *)(tool, MODE_ENABLE, EVENT_NATIVE_BIND, NULL);
    }
    return 0;
}
