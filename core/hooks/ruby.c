/* Ruby: calls.rb requires this as an extension. Methods that make tasks are replaced by functions that note
 * the stack and call the method as it was. They run no Ruby of their own, and so are no place where an
 * exception that another thread or a signal has raised begins (Timeout); any Ractor may call them. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hooks/call.h"

typedef uintptr_t value;

enum { MOST_DEPTH = 48, MOST_METHODS = 16, PATH_BYTES = 512, LIBRARIES = 2, TAG_RAISE = 6 };

typedef value function(int count, value *words, value self);

static struct {
    int (*frames)(int begin, int most, value *frames, int *lines);
    value (*frame_path)(value frame);
    value (*frame_full_path)(value frame);
    value (*frame_function)(value frame);
    value (*frame_method)(value frame);
    char *(*text)(value *text);
    value (*send)(value to, value name, int count, const value *words);
    value (*call)(int count, const value *words, value method, value block);
    int (*has_block)(void);
    value (*block)(void);
    value (*protect)(value (*function)(value), value data, int *state);
    void (*jump)(int state);
    value (*error)(void);
    void (*set_error)(value error);
    value (*item)(value array, long index);
    value (*remove)(value array, long index);
    value (*equal)(value text, value other);
    value (*array)(void);
    value (*name)(const char *name);
    value (*symbol)(value name);
    value (*singleton)(value of);
    void (*define)(value owner, const char *name, function *function, int words);
    void (*define_private)(value owner, const char *name, function *function, int words);
    void (*keep)(value of);
    value *(*verbose)(void);
    value (*evaluate)(const char *text);
    value *kernel, *process, *io, *thread;
    /* Since Ruby 3.0 and 2.7. */
    void (*for_ractors)(bool safe);
    value (*call_with_keywords)(int count, const value *words, value method, value block, int has_keywords);
    int (*has_keywords)(void);
} rb;

static const char *const NAMES[] = {
    "rb_profile_frames",
    "rb_profile_frame_path",
    "rb_profile_frame_absolute_path",
    "rb_profile_frame_base_label",
    "rb_profile_frame_method_name",
    "rb_string_value_ptr",
    "rb_funcallv",
    "rb_method_call_with_block",
    "rb_block_given_p",
    "rb_block_proc",
    "rb_protect",
    "rb_jump_tag",
    "rb_errinfo",
    "rb_set_errinfo",
    "rb_ary_entry",
    "rb_ary_delete_at",
    "rb_str_equal",
    "rb_ary_new",
    "rb_intern",
    "rb_id2sym",
    "rb_singleton_class",
    "rb_define_method",
    "rb_define_private_method",
    "rb_gc_register_mark_object",
    "rb_ruby_verbose_ptr",
    "rb_eval_string",
    "rb_mKernel",
    "rb_mProcess",
    "rb_cIO",
    "rb_cThread",
    "rb_ext_ractor_safe",
    "rb_method_call_with_block_kw",
    "rb_keyword_given_p",
};
enum { NEEDED = 30 };

static struct method {
    const char *name, *event, *makes;
    value original; /* an UnboundMethod */
} methods[MOST_METHODS];
static int method_count;

static value nil, bind;
static char libraries[LIBRARIES][PATH_BYTES];

static bool is_library(const char *file) {
    for (int i = 0; i < LIBRARIES; i++) {
        size_t length = strlen(libraries[i]);
        if (length > 0 && strncmp(file, libraries[i], length) == 0 && file[length] == '/') {
            return true;
        }
    }
    return strncmp(file, "<internal:", sizeof "<internal:" - 1) == 0;
}

static const char *text_of(value text) {
    return text != nil ? rb.text(&text) : "";
}

/* A method in C has no file: its name is an event's. */
static const char *file_of(value frame) {
    value path = rb.frame_full_path(frame);
    const char *file = text_of(path != nil ? path : rb.frame_path(frame));
    return strcmp(file, "<cfunc>") != 0 ? file : "";
}

static void add_frame(struct call *call, value frame, const char *file, int line) {
    const char *slash = strrchr(file, '/');
    char module[PATH_BYTES];
    snprintf(module, sizeof module, "%s", slash != NULL ? slash + 1 : file);
    size_t length = strlen(module);
    if (length > sizeof ".rb" - 1 && strcmp(module + length - 3, ".rb") == 0) {
        module[length - 3] = '\0';
    }
    const struct call_frame written = {.library = is_library(file),
                                       .module = module,
                                       .function = text_of(rb.frame_function(frame)),
                                       .file = file,
                                       .line = line};
    (void)call_add(call, &written);
}

static void note(const struct method *method) {
    struct call call;
    value frames[MOST_DEPTH];
    int lines[MOST_DEPTH];
    char event[PATH_BYTES];
    int count = rb.frames(0, MOST_DEPTH, frames, lines);
    const char *maker = "fork";
    snprintf(event, sizeof event, "%s", method->event);
    if (strcmp(method->name, "_fork") == 0) {
        /* What forks calls this: Process.fork, IO.popen, Process.daemon. */
        for (int i = 0; i < count && file_of(frames[i])[0] == '\0'; i++) {
            const char *name = text_of(rb.frame_method(frames[i]));
            maker = name[0] != '\0' && strcmp(name, "_fork") != 0 ? name : maker;
        }
        snprintf(event, sizeof event, "%s.%s", strcmp(maker, "popen") == 0 ? "IO" : "Process", maker);
    }
    call_begin(&call, "ruby", method->makes, event);
    for (int i = 0; i < count && call.frames < CALL_MOST_FRAMES; i++) {
        const char *file = file_of(frames[i]);
        if (file[0] != '\0') {
            add_frame(&call, frames[i], file, lines[i]);
        }
    }
    call_write(&call);
}

struct calling {
    const struct method *method;
    int count;
    value *words;
    value self, block;
    int has_keywords;
};

static value call_original(value data) {
    const struct calling *calling = (const struct calling *)data; /* NOLINT(performance-no-int-to-ptr) */
    value method = rb.send(calling->method->original, bind, 1, &calling->self);
    return rb.call_with_keywords != NULL ? rb.call_with_keywords(calling->count, calling->words, method,
                                                                 calling->block, calling->has_keywords)
                                         : rb.call(calling->count, calling->words, method, calling->block);
}

/* An error names each call once, as it would without us: ours is the outer one of two that are alike. */
static void mend(const struct method *method) {
    value error = rb.error();
    value calls = rb.send(error, rb.name("backtrace"), 0, NULL);
    value call = calls != nil ? rb.item(calls, 0) : nil;
    for (long i = 1; call != nil; i++) {
        value next = rb.item(calls, i);
        if (next != nil && strstr(text_of(call), method->name) != NULL && rb.equal(call, next) != 0) {
            rb.remove(calls, i);
            rb.send(error, rb.name("set_backtrace"), 1, &calls);
            break;
        }
        call = next;
    }
}

static value called(const struct method *method, int count, value *words, value self) {
    struct calling calling = {.method = method, .count = count, .words = words, .self = self};
    int state = 0;
    calling.has_keywords = rb.has_keywords != NULL ? rb.has_keywords() : 0;
    calling.block = rb.has_block() != 0 ? rb.block() : nil;
    note(method);
    value result = rb.protect(call_original, (value)&calling, &state);
    if (state == TAG_RAISE) {
        mend(method);
    }
    if (state != 0) {
        rb.jump(state);
    }
    return result;
}

/* Ruby calls a method by its address alone: each has one. */
#define METHOD(number)                                                                                       \
    static value method_##number(int count, value *words, value self) {                                      \
        return called(&methods[number], count, words, self);                                                 \
    }
METHOD(0)
METHOD(1)
METHOD(2)
METHOD(3)
METHOD(4)
METHOD(5)
METHOD(6)
METHOD(7)
METHOD(8)
METHOD(9)
METHOD(10)
METHOD(11)
METHOD(12)
METHOD(13)
METHOD(14)
METHOD(15)
static function *const FUNCTIONS[MOST_METHODS] = {
    method_0, method_1, method_2,  method_3,  method_4,  method_5,  method_6,  method_7,
    method_8, method_9, method_10, method_11, method_12, method_13, method_14, method_15};

static bool has_method(value owner, const char *which, const char *name) {
    value symbol = rb.symbol(rb.name(name));
    return rb.send(owner, rb.name(which), 1, &symbol) != 0;
}

static void wrap(value owner, const char *name, const char *event, const char *makes) {
    value symbol = rb.symbol(rb.name(name));
    bool is_private = has_method(owner, "private_method_defined?", name);
    if (method_count < MOST_METHODS && (is_private || has_method(owner, "method_defined?", name))) {
        int number = method_count++;
        methods[number] = (struct method){.name = name, .event = event, .makes = makes};
        methods[number].original = rb.send(owner, rb.name("instance_method"), 1, &symbol);
        rb.keep(methods[number].original);
        (is_private ? rb.define_private : rb.define)(owner, name, FUNCTIONS[number], -1);
    }
}

static value wrap_all(value data) {
    value kernel = rb.singleton(*rb.kernel);
    value process = rb.singleton(*rb.process);
    value thread = rb.singleton(*rb.thread);
    value folders = rb.evaluate("RbConfig::CONFIG.values_at('rubylibdir', 'rubyarchdir')");
    for (int i = 0; i < LIBRARIES; i++) {
        snprintf(libraries[i], sizeof libraries[i], "%s", text_of(rb.item(folders, i)));
    }
    for (int i = 0; i < 2; i++) {
        value owner = i == 0 ? *rb.kernel : kernel;
        wrap(owner, "system", "Kernel.system", "process");
        wrap(owner, "spawn", "Kernel.spawn", "process");
        wrap(owner, "`", "Kernel.`", "process");
    }
    wrap(process, "spawn", "Process.spawn", "process");
    wrap(process, "daemon", "Process.daemon", "process");
    wrap(rb.singleton(*rb.io), "popen", "IO.popen", "process");
    wrap(thread, "new", "Thread.new", "thread");
    wrap(thread, "start", "Thread.start", "thread");
    wrap(thread, "fork", "Thread.fork", "thread");
    /* Since Ruby 3.1 what forks calls this: the block that runs in the child then has no call of ours around
     * it. */
    if (has_method(process, "method_defined?", "_fork")) {
        wrap(process, "_fork", "Process.fork", "process");
    } else {
        wrap(*rb.kernel, "fork", "Process.fork", "process");
        wrap(kernel, "fork", "Process.fork", "process");
        wrap(process, "fork", "Process.fork", "process");
    }
    return data;
}

/* Called as it is loaded. */
extern void Init_clonometer_calls(void);
void Init_clonometer_calls(void) {
    int state = 0;
    if (!call_symbols((void **)&rb, NAMES, sizeof NAMES / sizeof *NAMES, NEEDED) || !call_wanted()) {
        return;
    }
    nil = rb.item(rb.array(), 0);
    bind = rb.name("bind");
    if (rb.for_ractors != NULL) {
        rb.for_ractors(true);
    }
    value *verbose = rb.verbose();
    value former = *verbose;
    *verbose = nil; /* Methods are defined anew, as is meant. */
    (void)rb.protect(wrap_all, nil, &state);
    *verbose = former;
    if (state != 0) {
        rb.set_error(nil); /* A Ruby that is too old, or without its configuration. */
    }
}
