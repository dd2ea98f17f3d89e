/* A line about a call that is about to create a task, as `clonometer.tracing.census.language` reads it: the
 * runtime, the time, the thread, what is created, the event, and the calls that led to it, innermost first.
 * It is one packet to the socket on which the census listens.
 *
 * These files are a library that an interpreter loads by a means of its own: Python, Ruby and Node.js as an
 * extension, Bash by `enable -f`, Perl by its loader, make by `load`, PHP by `zend_extension`, a JVM by
 * `-agentpath`. They run none of the program's code, so that none of its exceptions ends in them; they keep
 * nothing open and change no errno. */
#ifndef CLONOMETER_HOOKS_CALL_H
#define CLONOMETER_HOOKS_CALL_H

#include <stdbool.h>
#include <stddef.h>

enum { CALL_BYTES = 4000, CALL_MOST_FRAMES = 16 };

struct call {
    size_t length;
    unsigned frames;
    bool of_first_thread;
    char text[CALL_BYTES];
};

struct call_frame {
    bool library; /* of the runtime's standard library */
    const char *module;
    const char *function;
    const char *file;
    long line;
};

/* Keeps who wants to be told; false where nobody does. Before the first call. */
bool call_wanted(void);

/* `makes` is "process" or "thread". */
void call_begin(struct call *call, const char *runtime, const char *makes, const char *event);
/* Whether there is room for another. NULL is the same as "". */
bool call_add(struct call *call, const struct call_frame *frame);
/* Frames as they are written, each after a tab, as far as there is room. */
void call_add_written(struct call *call, const char *frames);
void call_write(const struct call *call);

/* A function or variable of the program that this was loaded into; NULL where it has none. */
void *call_symbol(const char *name);
/* The same of several, into places beside each other; false where one of the first `needed` is missing. */
bool call_symbols(void **places, const char *const *names, size_t count, size_t needed);

#endif
