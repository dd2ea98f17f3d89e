#include "census/code_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "census/strangers.h"

enum { MOST_BYTES = 64 << 20, MOST_PROCESSES = 16, HEXADECIMAL = 16, MOST_PATH = 96 };

struct named_code {
    uint64_t start;
    uint64_t bytes;
    const char *name;
};

int code_names_read(struct code_names *names, char *text) {
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    *names = (struct code_names){.text = text, .code = calloc(lines, sizeof *names->code)};
    if (names->code == NULL) {
        free(text);
        names->text = NULL;
        return -ENOMEM;
    }
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && names->count < lines;
         line = strtok_r(NULL, "\n", &rest)) {
        char *at = line;
        uint64_t start = strtoull(at, &at, HEXADECIMAL);
        uint64_t bytes = strtoull(at, &at, HEXADECIMAL);
        if (*at == ' ' && at[1] != '\0' && bytes > 0) {
            names->code[names->count++] = (struct named_code){start, bytes, at + 1};
        }
    }
    return 0;
}

const char *code_names_find(const struct code_names *names, uint64_t address, uint64_t *plus) {
    /* Memory is used again: what was written last is there. */
    for (size_t i = names->count; i-- > 0;) {
        if (address >= names->code[i].start && address - names->code[i].start < names->code[i].bytes) {
            *plus = address - names->code[i].start;
            return names->code[i].name;
        }
    }
    return NULL;
}

void code_names_free(struct code_names *names) {
    free(names->text);
    free(names->code);
    *names = (struct code_names){.text = NULL};
}

/* All of a file that is one; NULL where it is not, or is too large. */
static char *read_whole(pid_t process, const char *path) {
    struct stat status;
    int file = strangers_open(process, path, false);
    if (file < 0) {
        return NULL;
    }
    bool fits = fstat(file, &status) == 0 && status.st_size < MOST_BYTES;
    size_t room = fits ? (size_t)status.st_size : 0;
    char *text = fits ? malloc(room + 1) : NULL;
    size_t done = 0;
    ssize_t got = 1;
    while (text != NULL && done < room && got > 0) {
        got = read(file, text + done, room - done);
        done += got > 0 ? (size_t)got : 0;
    }
    close(file);
    if (text != NULL) {
        text[done] = '\0';
    }
    return text;
}

/* As the process sees the file, or, where it has gone, as we do. */
static char *read_names(pid_t process) {
    char path[MOST_PATH];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)process);
    char *text = read_whole(process, path);
    return text != NULL ? text : read_whole(0, path);
}

const char *code_name(pid_t process, uint64_t address, uint64_t *plus) {
    static struct {
        pid_t process;
        struct code_names names;
    } known[MOST_PROCESSES];
    static size_t count;
    size_t place = 0;
    while (place < count && known[place].process != process) {
        place++;
    }
    if (place == MOST_PROCESSES) {
        return NULL;
    }
    if (place == count) {
        char *text = read_names(process);
        known[count++].process = process;
        if (text != NULL) {
            (void)code_names_read(&known[place].names, text);
        }
    }
    return code_names_find(&known[place].names, address, plus);
}
