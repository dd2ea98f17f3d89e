/* A line about a call that is about to create a task, as `clonometer.tracing.census.language` reads it: the
 * runtime, the time, the thread, what is created, the event, and the calls that led to it, innermost first.
 *
 * These files are a library that an interpreter loads by a means of its own: Bash by `enable -f`, Perl by its
 * loader, make by `load`, PHP by `zend_extension`, a JVM by `-agentpath`. They must not allocate, keep
 * nothing open and change no errno. */
#ifndef CLONOMETER_HOOKS_CALL_H
#define CLONOMETER_HOOKS_CALL_H

#include <stdbool.h>
#include <stddef.h>

enum { CALL_BYTES = 4000, CALL_MOST_FRAMES = 16 };

struct call {
    size_t length;
    unsigned frames;
    char text[CALL_BYTES];
};

struct call_frame {
    bool library; /* of the runtime's standard library */
    const char *module;
    const char *function;
    const char *file;
    long line;
};

/* Keeps where lines are written; false where nobody wants them. Before the first call. */
bool call_wanted(void);

/* `makes` is "process" or "thread". */
void call_begin(struct call *call, const char *runtime, const char *makes, const char *event);
/* Whether there is room for another. NULL is the same as "". */
bool call_add(struct call *call, const struct call_frame *frame);
void call_write(struct call *call);

/* A function or variable of the program that this was loaded into; NULL where it has none. */
void *call_symbol(const char *name);

#endif
