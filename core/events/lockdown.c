#include "events/lockdown.h"

#include <stdio.h>
#include <string.h>

#include "base/sys.h"

void lockdown_words(const char *state, char *words, size_t capacity) {
    /* All states stand in it; the brackets mark the one that holds. */
    const char *begin = strchr(state, '[');
    const char *end = begin != NULL ? strchr(begin, ']') : NULL;
    words[0] = '\0';
    if (end != NULL && strncmp(begin, "[none]", 6) != 0) {
        snprintf(words, capacity, "; the kernel is locked down (%.*s)", (int)(end - begin - 1), begin + 1);
    }
}

void lockdown_here(char *words, size_t capacity) {
    char state[128];
    if (sys_read_file("/sys/kernel/security/lockdown", state, sizeof state) <= 0) {
        state[0] = '\0';
    }
    lockdown_words(state, words, capacity);
}
