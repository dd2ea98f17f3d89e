/* The words of a request, and answers written into any room. */
#include "base/json.h"
#include "fuzz/input.h"
#include "probe/options.h"

enum { MOST_WORDS = 32, MOST_WORD = 256, MOST_ROOM = 512 };

static void write_json(struct input *input) {
    size_t room = input_number(input, 2) % MOST_ROOM;
    char *buffer = malloc(room > 0 ? room : 1);
    struct json json;
    if (buffer == NULL) {
        abort();
    }
    json_start(&json, buffer, room);
    json_open(&json, NULL, '{');
    while (input->left > 0) {
        char *text = input_text(input, MOST_WORD);
        json_text(&json, text, text);
        json_int(&json, "number", (int64_t)input_number(input, 8));
        free(text);
    }
    json_close(&json, '}');
    if (json.length > room) {
        abort();
    }
    free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = {bytes, length};
    struct request request;
    struct reason reason = {""};
    char *words[MOST_WORDS];
    int count = (int)(input_number(&input, 1) % MOST_WORDS);
    for (int i = 0; i < count; i++) {
        words[i] = input_text(&input, MOST_WORD);
    }
    (void)options_parse(count, words, &request, &reason);
    if (memchr(&reason, 0, sizeof reason) == NULL) {
        abort();
    }
    for (int i = 0; i < count; i++) {
        free(words[i]);
    }
    write_json(&input);
    return 0;
}
