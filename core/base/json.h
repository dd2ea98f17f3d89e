/* Writes JSON into a fixed buffer. Nothing is allocated; a text that does not fit sets `overflow`. */
#ifndef CLONOMETER_JSON_H
#define CLONOMETER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *buffer;
    size_t capacity;
    size_t length;
    bool overflow;
    bool need_comma;
};

void json_start(struct json *json, char *buffer, size_t capacity);

/* Each takes a key inside an object, NULL inside an array or at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *value); /* NULL value: null */
void json_int(struct json *json, const char *key, int64_t value);
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);

#endif
