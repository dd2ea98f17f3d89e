/* From the registers and the stack of a task, copied in one moment, to the calls that it is in: by elfutils'
 * libdw, or by frame pointers where that is not installed.
 *
 * All is done in addresses of modules (modules.h), and of a stack that always lies in one place. So what the
 * unwinder sees of two equal calls in two processes is equal, word by word; and as an unwinding depends on
 * the registers and the words that it read alone, a stack that has the same ones is known without unwinding
 * it. */
#ifndef CLONOMETER_CENSUS_UNWIND_H
#define CLONOMETER_CENSUS_UNWIND_H

#include "census/libdw.h"
#include "census/spaces.h"
#include "events/registers.h"

enum { UNWIND_MOST_FRAMES = 64, UNWIND_MOST_WORDS = 512 };

/* As it was copied. */
struct user_stack {
    uint64_t registers[REGISTERS];
    const unsigned char *memory; /* from the stack pointer on */
    size_t bytes;
};

enum unwind_end {
    UNWIND_COMPLETE,      /* the outermost call */
    UNWIND_BEYOND_COPY,   /* it goes on beyond what was copied */
    UNWIND_NO_TABLE,      /* code without unwind tables and frame pointers */
    UNWIND_NO_FILE,       /* code of a file that cannot be read: it has gone, or is another one by now */
    UNWIND_NO_CODE,       /* an address at which nothing is known to be mapped */
    UNWIND_MOST,          /* it has more calls than are kept */
    UNWIND_BY_FRAMES_END, /* the frame pointers end, which need not be the outermost call */
};

/* Innermost first. Addresses are of modules; all but the first are behind the call. */
struct unwound {
    uint64_t frames[UNWIND_MOST_FRAMES];
    size_t count;
    enum unwind_end end;
};

/* What an unwinding has read. */
struct unwind_words {
    uint64_t address[UNWIND_MOST_WORDS];
    uint64_t word[UNWIND_MOST_WORDS];
    size_t count;
    bool whole;  /* there was room for all */
    bool failed; /* some could not be read: of a copy of another length others might */
};

struct unwinder {
    struct libdw libdw;
    struct libdw_session *session; /* NULL: there is no libdw */
    struct spaces *spaces;
    size_t reported; /* modules that libdw knows */
    size_t units;    /* compilation units that were looked at for lines */
    bool attached;
    /* While it works: */
    const struct user_stack *stack;
    const struct space *space;
    struct unwind_words *words;
    struct unwound *out;
    bool beyond;
    uint64_t from_caller; /* where it begins, if not in the innermost call; else 0 */
    uint64_t leaf_bytes;  /* what the innermost call has on the stack then */
};

/* `reason` says why there is no libdw; then frame pointers serve. 0, or -ENOMEM. */
int unwinder_open(struct unwinder *unwinder, struct spaces *spaces, struct reason *reason);
void unwinder_close(struct unwinder *unwinder);

void unwind(struct unwinder *unwinder, const struct user_stack *stack, const struct space *space,
            struct unwound *out, struct unwind_words *words);

/* After something was mapped: lets go of files where many are open, which nobody could unwind by later. */
void unwinder_meet(struct unwinder *unwinder);

/* A register's value, or a word of the stack, in the addresses of modules and of the one stack; whether it is
 * one of these. */
bool unwind_translate(const struct unwinder *unwinder, const struct user_stack *stack,
                      const struct space *space, uint64_t word, uint64_t *translated);

/* Whether another stack has the same words where an unwinding has read some. */
bool unwind_would_read(const struct unwinder *unwinder, const struct user_stack *stack,
                       const struct space *space, const uint64_t *addresses, const uint64_t *words,
                       size_t count);

/* The libdw module of a module, for names; NULL where there is none. */
struct libdw_module *unwinder_module(struct unwinder *unwinder, const struct module *module);

#endif
