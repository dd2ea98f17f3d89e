/* JSON: commas, nesting, escapes, numbers that JSON does not know, and a buffer that is too small. */
#include <math.h>

#include "base/json.h"
#include "check.h"

int main(void) {
    char buffer[256];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "a", "x\"\\\n\xe9");
    json_text(&json, "b", NULL);
    json_open(&json, "c", '[');
    json_int(&json, NULL, -9223372036854775807LL - 1);
    json_double(&json, NULL, 0.5);
    json_double(&json, NULL, (double)NAN);
    json_double(&json, NULL, (double)INFINITY);
    json_close(&json, ']');
    json_bool(&json, "d", true);
    json_close(&json, '}');
    const char *expected = "{\"a\": \"x\\\"\\\\\\u000a\\u00e9\", \"b\": null, "
                           "\"c\": [-9223372036854775808, 0.5, null, null], \"d\": true}";
    CHECK(strcmp(buffer, expected) == 0, "%s", buffer);
    CHECK(!json.overflow && json.length == strlen(expected), "length %zu", json.length);

    json_start(&json, buffer, 8);
    json_open(&json, NULL, '{');
    json_text(&json, "key", "a text that is too long");
    CHECK(json.overflow, "a small buffer must be told");
    CHECK(strlen(buffer) < 8, "wrote past the buffer");
    return 0;
}
