/* Python: sitecustomize.py imports this as an extension, and calls `begin`. That adds a hook for audit events
 * (PySys_AddAuditHook, Python 3.8) to the process, whoever else has some. It reads the stack, executes
 * nothing of Python's, and so lets no signal handler raise within it.
 *
 * What has no audit event is replaced by a function that notes and calls it: the start of a thread before
 * Python 3.13, and what multiprocessing executes. Structures are those of the stable ABI (PEP 384); a build
 * without the GIL has others, and is left alone by sitecustomize.py. */
#include <stdint.h>
#include <string.h>

#include "hooks/call.h"

enum { ABI_VERSION = 3, LIBRARY_BYTES = 512, WITH_KEYWORDS = 1 | 2, WITH_WORDS = 1 };

typedef void object;

struct method {
    const char *name;
    object *(*function)(object *self, object *words, object *named);
    int flags;
    const char *help;
};

/* PyModuleDef */
struct module {
    intptr_t references;
    void *type, *start;
    intptr_t index;
    void *copy;
    const char *name, *help;
    intptr_t bytes;
    const struct method *methods;
    void *slots, *traverse, *clear, *release;
};

/* Functions of the interpreter; those of the second part it may lack. */
static struct {
    int (*add_hook)(int (*hook)(const char *event, object *words, void *data), void *data);
    object *(*frame)(void);
    int (*line)(object *frame);
    object *(*get)(object *from, const char *name);
    int (*set)(object *in, const char *name, object *value);
    object *(*item)(object *dictionary, const char *name);
    intptr_t (*size)(object *list);
    object *(*list_item)(object *list, intptr_t index);
    object *(*word)(object *words, intptr_t index);
    const char *(*text)(object *text);
    object *(*encode)(object *text, const char *encoding, const char *errors);
    const char *(*bytes)(object *bytes);
    object *(*call)(object *function, object *words, object *named);
    object *(*decode)(const char *text, intptr_t bytes, const char *errors);
    object *(*call_method)(object *of, const char *name, const char *format, ...);
    object *(*import)(const char *name);
    object *(*new_function)(struct method *method, object *self, object *module);
    int (*parse)(object *words, const char *format, ...);
    object *(*define)(struct module *module);
    void (*keep)(object *of);
    void (*release)(object *of);
    void (*forget_error)(void);
    object *none;
    object *(*back)(object *frame);
    object *(*code)(object *frame);
    object *(*globals)(object *frame);
} py;

static const char *const NAMES[] = {
    "PySys_AddAuditHook",
    "PyEval_GetFrame",
    "PyFrame_GetLineNumber",
    "PyObject_GetAttrString",
    "PyObject_SetAttrString",
    "PyDict_GetItemString",
    "PyList_Size",
    "PyList_GetItem",
    "PyTuple_GetItem",
    "PyUnicode_AsUTF8",
    "PyUnicode_AsEncodedString",
    "PyBytes_AsString",
    "PyObject_Call",
    "PyUnicode_DecodeUTF8",
    "PyObject_CallMethod",
    "PyImport_ImportModule",
    "PyCFunction_NewEx",
    "PyArg_ParseTuple",
    "PyModuleDef_Init",
    "Py_IncRef",
    "Py_DecRef",
    "PyErr_Clear",
    "_Py_NoneStruct",
    "PyFrame_GetBack",
    "PyFrame_GetCode",
    "PyFrame_GetGlobals",
};
enum { NEEDED = 23 };

static char library[LIBRARY_BYTES];

/* An attribute, by the function that gives it where there is one. */
static object *attribute(object *(*by)(object *of), object *of, const char *name) {
    object *value = by != NULL ? by(of) : py.get(of, name);
    if (value == py.none) {
        py.release(value);
        return NULL;
    }
    return value;
}

/* A text as UTF-8; file names may have bytes that are none. `held` is what must be let go after its use. */
static const char *text_of(object *text, object **held) {
    const char *content = text != NULL ? py.text(text) : NULL;
    *held = NULL;
    if (content == NULL && text != NULL) {
        py.forget_error();
        *held = py.encode(text, "utf-8", "surrogateescape");
        content = *held != NULL ? py.bytes(*held) : NULL;
        py.forget_error();
    }
    return content != NULL ? content : "";
}

static bool is_library(const char *file) {
    size_t length = strlen(library);
    return strncmp(file, "<frozen", sizeof "<frozen" - 1) == 0 ||
           (length > 0 && strncmp(file, library, length) == 0 &&
            strncmp(file + length, "site-packages/", sizeof "site-packages/" - 1) != 0 &&
            strncmp(file + length, "dist-packages/", sizeof "dist-packages/" - 1) != 0);
}

static bool add_frame(struct call *call, object *frame) {
    object *code = attribute(py.code, frame, "f_code");
    object *globals = attribute(py.globals, frame, "f_globals");
    object *file = code != NULL ? py.get(code, "co_filename") : NULL;
    /* Since 3.11, as the function that is asked for. */
    object *name = code != NULL ? py.get(code, py.globals != NULL ? "co_qualname" : "co_name") : NULL;
    object *held[3];
    const char *path = text_of(file, &held[0]);
    const struct call_frame written = {
        .library = is_library(path),
        .module = text_of(globals != NULL ? py.item(globals, "__name__") : NULL, &held[1]),
        .function = text_of(name, &held[2]),
        .file = path,
        .line = py.line(frame)};
    bool more = call_add(call, &written);
    object *const used[] = {held[0], held[1], held[2], name, file, globals, code};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        py.release(used[i]); /* which may be NULL */
    }
    return more;
}

static void tell_listeners(const struct call *call, object *listeners) {
    object *text = py.decode(call->text, (intptr_t)call->length, "replace");
    for (intptr_t i = 0; text != NULL && i < py.size(listeners); i++) {
        py.release(py.call_method(py.list_item(listeners, i), "append", "O", text));
    }
    py.release(text);
}

/* For a process that watches itself, `listeners` has queues of its own; else it is NULL, and a census is
 * told. */
static void note(const char *event, bool makes_thread, object *listeners) {
    struct call call;
    if (listeners != NULL && py.size(listeners) == 0) {
        return;
    }
    object *frame = py.frame();
    call_begin(&call, "python", makes_thread ? "thread" : "process", event);
    py.keep(frame);
    while (frame != NULL) {
        bool more = add_frame(&call, frame);
        object *back = more ? attribute(py.back, frame, "f_back") : NULL;
        py.release(frame);
        frame = back;
    }
    if (listeners != NULL) {
        tell_listeners(&call, listeners);
    } else {
        call_write(&call);
    }
    py.forget_error();
}

static object *start, *execute;

static object *start_thread(object *self, object *words, object *named) {
    (void)self;
    note("_thread.start_new_thread", true, NULL);
    return py.call(start, words, named);
}

static object *fork_exec(object *self, object *words, object *named) {
    (void)self;
    object *held = NULL;
    object *frame = py.frame();
    object *globals = frame != NULL ? attribute(py.globals, frame, "f_globals") : NULL;
    /* subprocess has an event, which was noted. */
    if (globals != NULL && strcmp(text_of(py.item(globals, "__name__"), &held), "subprocess") != 0) {
        note("_posixsubprocess.fork_exec", false, NULL);
    }
    py.release(held);
    py.release(globals);
    return py.call(execute, words, named);
}

static struct method start_method = {"start_new_thread", start_thread, WITH_KEYWORDS, NULL};
static struct method execute_method = {"fork_exec", fork_exec, WITH_KEYWORDS, NULL};

/* False with an error of Python's. */
static bool replace(const char *module, struct method *by, object **former) {
    object *in = py.import(module);
    object *name = in != NULL ? py.get(in, "__name__") : NULL;
    object *function = name != NULL ? py.new_function(by, NULL, name) : NULL;
    *former = in != NULL ? py.get(in, by->name) : NULL;
    bool done = function != NULL && *former != NULL && py.set(in, by->name, function) == 0;
    py.release(function);
    py.release(name);
    py.release(in);
    return done;
}

/* As its module is imported: whoever began that is given it with our function. An error may be of a signal's
 * handler, and is the program's. */
static int wrap_execution(object *imported) {
    static bool wrapped; /* The import below is one too. */
    object *held = NULL;
    bool is_it = !wrapped && strcmp(text_of(imported, &held), "_posixsubprocess") == 0;
    py.release(held);
    if (is_it) {
        wrapped = true;
        return replace("_posixsubprocess", &execute_method, &execute) ? 0 : -1;
    }
    return 0;
}

static int hook(const char *event, object *words, object *listeners) {
    static const struct {
        const char *name;
        bool thread;
    } EVENTS[] = {
        {"subprocess.Popen", false},
        {"os.fork", false},
        {"os.forkpty", false},
        {"os.posix_spawn", false},
        {"os.system", false},
        {"_thread.start_new_thread", true},
        {"_thread.start_joinable_thread", true},
    };
    if (listeners == NULL && strcmp(event, "import") == 0) {
        return wrap_execution(py.word(words, 0));
    }
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++) {
        if (strcmp(event, EVENTS[i].name) == 0 && (listeners != NULL || start == NULL || !EVENTS[i].thread)) {
            note(event, EVENTS[i].thread, listeners);
            break;
        }
    }
    return 0;
}

/* begin(library, without, listeners): the folder of the standard library; whether threads have no event; a
 * list of queues, where lines do not go to a census. */
static object *begin(object *self, object *words, object *named) {
    const char *folder;
    int without = 0;
    object *listeners = NULL;
    (void)self, (void)named;
    if (py.parse(words, "sp|O", &folder, &without, &listeners) == 0) {
        return NULL;
    }
    size_t length = strlen(folder);
    memcpy(library, folder, length < sizeof library ? length : 0);
    if (listeners != NULL) {
        py.keep(listeners);
    } else if (!call_wanted()) {
        py.keep(py.none);
        return py.none;
    }
    if ((without != 0 && !replace("_thread", &start_method, &start)) || py.add_hook(hook, listeners) != 0) {
        return NULL;
    }
    py.keep(py.none);
    return py.none;
}

static const struct method METHODS[] = {{"begin", begin, WITH_WORDS, NULL}, {NULL, NULL, 0, NULL}};

extern object *PyInit_clonometer_calls(void);
object *PyInit_clonometer_calls(void) {
    static struct module module = {.references = 1, .name = "clonometer_calls", .methods = METHODS};
    return call_symbols((void **)&py, NAMES, sizeof NAMES / sizeof *NAMES, NEEDED)
               ? py.define(&module)
               : NULL; /* "initialization failed without raising an exception" */
}
