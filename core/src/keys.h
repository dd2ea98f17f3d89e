/* The words `key=value` that the programs beside the probe are asked with; the probe's own are in options.h.
 */
#ifndef CLONOMETER_KEYS_H
#define CLONOMETER_KEYS_H

#include <stddef.h>
#include <string.h>

/* The value of a word, if that is of this key; else NULL. */
static inline const char *key_value(const char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

#endif
