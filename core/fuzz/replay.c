/* Gives a fuzzer what the searches of `make fuzz` have kept: a corpus has one input a line, in hexadecimal.
 */
#include <stdio.h>

#include "fuzz/input.h"

enum { MOST_BYTES = 16384 };

static int digit(char character) {
    const char *place = character != '\0' ? strchr("0123456789abcdef", character) : NULL;
    return place != NULL ? (int)(place - "0123456789abcdef") : -1;
}

/* The bytes of a line, exactly as many as it names so that reading beyond them is seen; -1 if it is none. */
static int replay(const char *line) {
    size_t length = strspn(line, "0123456789abcdef") / 2;
    uint8_t *bytes = malloc(length > 0 ? length : 1);
    if (bytes == NULL || length > MOST_BYTES || line[2 * length] != '\n') {
        free(bytes);
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(digit(line[2 * i]) * 16 + digit(line[2 * i + 1]));
    }
    (void)LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
    return 0;
}

int main(void) {
    static char line[2 * MOST_BYTES + 2];
    FILE *corpus = fopen(CORPUS, "r");
    int number = 0;
    if (corpus == NULL) {
        puts("there is no corpus: " CORPUS);
        return 1;
    }
    while (fgets(line, sizeof line, corpus) != NULL) {
        number++;
        if (replay(line) != 0) {
            printf("%s:%d: no input\n", CORPUS, number);
            return 1;
        }
    }
    fclose(corpus);
    return number > 0 ? 0 : 1;
}
