/* Node.js: calls.cjs loads this as an addon (Node-API), whose one function tells a call. Frames are V8's,
 * which only its own language names. */
#include "hooks/call.h"

enum { WORDS = 2, NAME_BYTES = 64, FRAMES_BYTES = CALL_BYTES };

typedef void environment;
typedef void value;

static int (*arguments_of)(environment *env, void *call, size_t *count, value **words, value **self,
                           void **data);
static int (*text_of)(environment *env, value *text, char *buffer, size_t bytes, size_t *length);

/* tell(event, frames): what calls.cjs has put together of them, which need only be copied. */
static value *tell(environment *env, void *information) {
    struct call call;
    size_t count = WORDS;
    size_t length = 0;
    char event[NAME_BYTES];
    char frames[FRAMES_BYTES];
    value *words[WORDS] = {NULL, NULL};
    if (arguments_of(env, information, &count, words, NULL, NULL) == 0 &&
        text_of(env, words[0], event, sizeof event, &length) == 0 &&
        text_of(env, words[1], frames, sizeof frames, &length) == 0) {
        call_begin(&call, "node", "process", event);
        call_add_written(&call, frames);
        call_write(&call);
    }
    return NULL;
}

/* Called as it is loaded, in each thread that loads it. */
extern value *napi_register_module_v1(environment *env, value *exports);
value *napi_register_module_v1(environment *env, value *exports) {
    int (*new_function)(environment *env, const char *name, size_t length,
                        value *(*function)(environment *, void *), void *data, value **result);
    int (*set_property)(environment *env, value *object, const char *name, value *property);
    value *function = NULL;
    *(void **)&arguments_of = call_symbol("napi_get_cb_info");
    *(void **)&text_of = call_symbol("napi_get_value_string_utf8");
    *(void **)&new_function = call_symbol("napi_create_function");
    *(void **)&set_property = call_symbol("napi_set_named_property");
    if (call_wanted() && arguments_of != NULL && text_of != NULL && new_function != NULL &&
        set_property != NULL && new_function(env, "tell", sizeof "tell" - 1, tell, NULL, &function) == 0) {
        (void)set_property(env, exports, "tell", function);
    }
    return exports;
}
