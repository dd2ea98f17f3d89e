#ifndef CLONOMETER_EVENTS_LOCKDOWN_H
#define CLONOMETER_EVENTS_LOCKDOWN_H

#include <stddef.h>

/* What `state`, the text of /sys/kernel/security/lockdown, says of a refusal: "; the kernel is locked down
 * (confidentiality)", or nothing where it is not locked down. */
void lockdown_words(const char *state, char *words, size_t capacity);

/* The same of this machine. */
void lockdown_here(char *words, size_t capacity);

#endif
