#include "base/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may be given instead, named in a refusal. */
struct allowed {
    char names[256];
    size_t length;
};

static void allow(struct allowed *allowed, const char *name) {
    if (allowed->length < sizeof allowed->names) {
        allowed->length +=
            (size_t)snprintf(allowed->names + allowed->length, sizeof allowed->names - allowed->length,
                             "%s%s", allowed->length > 0 ? ", " : "", name);
    }
}

/* Not in its caller's frame, which is there for good words too: the probe's stack is copied by each fork. */
__attribute__((noinline)) static int refuse_choice(const struct key *key, const char *value, size_t length,
                                                   struct reason *reason) {
    struct allowed allowed = {.length = 0};
    for (size_t i = 0; key->choices[i] != NULL; i++) {
        allow(&allowed, key->choices[i]);
    }
    return reason_set(reason, -EINVAL, "%s has no value '%.*s'; allowed: %s", key->name, (int)length, value,
                      allowed.names);
}

void key_store(const struct key *key, int64_t number, const char *text, void *into) {
    char *field = (char *)into + key->offset;
    if (key->keep_text) {
        memcpy(field, &text, sizeof text);
    } else {
        memcpy(field, &number, sizeof number);
    }
}

int keys_choice(const char *word, size_t length, const char *const *choices) {
    for (int i = 0; choices[i] != NULL; i++) {
        if (strlen(choices[i]) == length && strncmp(choices[i], word, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int read_choice(const struct key *key, const char *value, void *into, struct reason *reason) {
    int choice = keys_choice(value, strlen(value), key->choices);
    if (choice < 0) {
        return refuse_choice(key, value, strlen(value), reason);
    }
    key_store(key, choice, key->choices[choice], into);
    return 0;
}

static int read_list(const struct key *key, const char *value, void *into, struct reason *reason) {
    int64_t bits = 0;
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        int choice = keys_choice(at, length, key->choices);
        if (choice < 0) {
            return refuse_choice(key, at, length, reason);
        }
        bits |= INT64_C(1) << choice;
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    key_store(key, bits, NULL, into);
    return 0;
}

static int read_number(const struct key *key, const char *value, void *into, struct reason *reason) {
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < key->least || number > key->most) {
        return reason_set(reason, -EINVAL, "%s=%s: not a whole number from %lld to %lld", key->name, value,
                          (long long)key->least, (long long)key->most);
    }
    key_store(key, number, NULL, into);
    return 0;
}

int key_read(const struct key *key, const char *value, void *into, struct reason *reason) {
    switch (key->kind) {
    case KEY_TEXT:
        key_store(key, 0, value, into);
        return 0;
    case KEY_CHOICE:
        return read_choice(key, value, into, reason);
    case KEY_LIST:
        return read_list(key, value, into, reason);
    default:
        return read_number(key, value, into, reason);
    }
}

static int refuse_key(const char *word, size_t length, const struct key *table, struct reason *reason) {
    struct allowed allowed = {.length = 0};
    for (const struct key *key = table; key->name != NULL; key++) {
        allow(&allowed, key->name);
    }
    if (word[length] == '\0') {
        return reason_set(reason, -EINVAL, "'%s' is not key=value; allowed keys: %s", word, allowed.names);
    }
    return reason_set(reason, -EINVAL, "unknown key '%.*s'; allowed: %s", (int)length, word, allowed.names);
}

int keys_read(const char *word, const struct key *table, void *into, struct reason *reason) {
    size_t length = strcspn(word, "=");
    for (const struct key *key = table; word[length] == '=' && key->name != NULL; key++) {
        if (strlen(key->name) == length && strncmp(key->name, word, length) == 0) {
            return key_read(key, word + length + 1, into, reason);
        }
    }
    return refuse_key(word, length, table, reason);
}

int keys_descriptor(const char *word, struct reason *reason) {
    char *end = NULL;
    errno = 0;
    long number = strtol(word, &end, 10);
    if (end == word || *end != '\0' || errno != 0 || number < 0 || number > INT_MAX ||
        fcntl((int)number, F_GETFD) < 0) {
        return reason_set(reason, -EBADF, "--fd %s is not an open descriptor", word);
    }
    return (int)number;
}
