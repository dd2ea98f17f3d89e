/* The words `key=value` that the programs beside the probe are asked with; the probe's own are in options.h.
 */
#ifndef CLONOMETER_KEYS_H
#define CLONOMETER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether a word is of this key; then `value` is what follows. */
static inline bool key_is(const char *word, const char *key, const char **value) {
    size_t length = strlen(key);
    *value = word + length + 1;
    return strncmp(word, key, length) == 0 && word[length] == '=';
}

#endif
