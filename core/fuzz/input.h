/* Bytes of a fuzzer, taken one piece after the other; zeros once they are used up. */
#ifndef CLONOMETER_FUZZ_INPUT_H
#define CLONOMETER_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *bytes;
    size_t left;
};

static inline void input_take(struct input *input, void *into, size_t length) {
    size_t given = length < input->left ? length : input->left;
    memset(into, 0, length);
    if (given > 0) {
        memcpy(into, input->bytes, given);
    }
    input->bytes += given;
    input->left -= given;
}

static inline uint64_t input_number(struct input *input, size_t bytes) {
    uint64_t number = 0;
    input_take(input, &number, bytes);
    return number;
}

/* Up to `most` bytes as a text that ends with NUL; the caller frees it. Exactly as long as the text is, so
 * that reading beyond its end is seen. */
static inline char *input_text(struct input *input, size_t most) {
    size_t length = input->left < most ? input->left : most;
    const uint8_t *end = length > 0 ? memchr(input->bytes, 0, length) : NULL;
    size_t used = end != NULL ? (size_t)(end - input->bytes) + 1 : length;
    length = end != NULL ? used - 1 : length;
    char *text = malloc(length + 1);
    if (text == NULL) {
        abort();
    }
    if (length > 0) {
        memcpy(text, input->bytes, length);
    }
    text[length] = '\0';
    input->bytes += used;
    input->left -= used;
    return text;
}

/* What libFuzzer calls; each program of this folder defines it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
