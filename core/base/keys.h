/* Programs are asked by words `key=value`. A table has a row a key, and one reader serves the probe's options
 * (probe/options.h), the tracer and the census. */
#ifndef CLONOMETER_KEYS_H
#define CLONOMETER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

/* A list is some of its choices with commas between: a bit each, in their order. */
enum key_kind { KEY_COUNT, KEY_BYTES, KEY_CHOICE, KEY_TEXT, KEY_LIST };

struct key {
    const char *name;
    enum key_kind kind;
    bool keep_text; /* a text, or a choice of which the word is kept and not its number */
    size_t offset;  /* in the struct that is filled: an int64_t, or a const char * where the text is kept */
    int64_t least;  /* of a count or size; negative ones there are none */
    int64_t most;
    const char *const *choices; /* of a choice or list, ended by NULL */
};

/* Reads one word into the struct that the table's offsets are of. The table ends with a row without a name.
 * 0, or -EINVAL with the reason. */
int keys_read(const char *word, const struct key *table, void *into, struct reason *reason);

/* The same of a value whose key is known. */
int key_read(const struct key *key, const char *value, void *into, struct reason *reason);

/* Stores the text where the key keeps it, else the number. */
void key_store(const struct key *key, int64_t number, const char *text, void *into);

/* The place of a word of so many bytes among choices; -1: it is none of them. */
int keys_choice(const char *word, size_t length, const char *const *choices);

/* The open descriptor that the word behind --fd names, or -EBADF with the reason. */
int keys_descriptor(const char *word, struct reason *reason);

#endif
