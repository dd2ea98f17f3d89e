#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(struct json *json, const char *text, size_t length) {
    if (json->length + length >= json->capacity) {
        json->overflow = true;
        return;
    }
    memcpy(json->buffer + json->length, text, length);
    json->length += length;
    json->buffer[json->length] = '\0';
}

static void put_text(struct json *json, const char *text) {
    put(json, text, strlen(text));
}

static void put_quoted(struct json *json, const char *text) {
    put(json, "\"", 1);
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char letter = (unsigned char)*at;
        char escaped[8];
        if (letter == '"' || letter == '\\') {
            escaped[0] = '\\';
            escaped[1] = (char)letter;
            put(json, escaped, 2);
        } else if (letter < 0x20 || letter >= 0x7f) {
            /* Argument bytes may be no valid UTF-8; what is not ASCII goes out as its Latin-1 code. */
            snprintf(escaped, sizeof escaped, "\\u%04x", letter);
            put(json, escaped, 6);
        } else {
            put(json, at, 1);
        }
    }
    put(json, "\"", 1);
}

static void lead(struct json *json, const char *key) {
    if (json->need_comma) {
        put(json, ", ", 2);
    }
    json->need_comma = true;
    if (key != NULL) {
        put_quoted(json, key);
        put(json, ": ", 2);
    }
}

void json_start(struct json *json, char *buffer, size_t capacity) {
    *json = (struct json){.buffer = buffer, .capacity = capacity};
    buffer[0] = '\0';
}

void json_open(struct json *json, const char *key, char bracket) {
    lead(json, key);
    put(json, &bracket, 1);
    json->need_comma = false;
}

void json_close(struct json *json, char bracket) {
    put(json, &bracket, 1);
    json->need_comma = true;
}

void json_text(struct json *json, const char *key, const char *value) {
    lead(json, key);
    if (value == NULL) {
        put_text(json, "null");
    } else {
        put_quoted(json, value);
    }
}

void json_int(struct json *json, const char *key, int64_t value) {
    char text[24];
    lead(json, key);
    snprintf(text, sizeof text, "%" PRId64, value);
    put_text(json, text);
}

void json_double(struct json *json, const char *key, double value) {
    char text[40];
    lead(json, key);
    snprintf(text, sizeof text, "%.6g", value);
    /* JSON knows neither inf nor nan, whose texts hold an 'n'. */
    put_text(json, strchr(text, 'n') != NULL ? "null" : text);
}

void json_bool(struct json *json, const char *key, bool value) {
    lead(json, key);
    put_text(json, value ? "true" : "false");
}
