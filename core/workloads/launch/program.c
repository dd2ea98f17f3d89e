/* What an exec starts: the words of `program=`, the path, the arguments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/launch/launch.h"

/* Where the first word ends: at a colon that no backslash takes its meaning from. */
static size_t word_length(const char *text) {
    size_t length = 0;
    while (text[length] != '\0' && text[length] != ':') {
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    }
    return length;
}

/* Copies a word without its backslashes to `*to`, which is moved behind its NUL. 0 or -ENAMETOOLONG. */
static int copy_word(const char *word, size_t length, char **to, const char *end) {
    for (size_t i = 0; i < length; i++) {
        i += word[i] == '\\' && i + 1 < length;
        if (*to + 1 >= end) {
            return -ENAMETOOLONG;
        }
        *(*to)++ = word[i];
    }
    *(*to)++ = '\0';
    return 0;
}

/* Writes the folder of our targets with a slash: that of the driver unless the request names another. */
static int write_folder(const struct request *request, char **to, const char *end) {
    size_t room = (size_t)(end - *to);
    if (request->targets != NULL) {
        int length = snprintf(*to, room, "%s/", request->targets);
        if (length < 0 || (size_t)length >= room) {
            return -ENAMETOOLONG;
        }
        *to += length;
        return 0;
    }
    const char *own_program = sys_own_program();
    ssize_t length = readlink(own_program, *to, room - 1);
    if (length < 0 && strlen(own_program) >= room) {
        return -ENAMETOOLONG;
    }
    if (length < 0) {
        length = (ssize_t)strlen(own_program);
        memcpy(*to, own_program, (size_t)length);
    }
    if ((size_t)length >= room - 1) {
        return -ENAMETOOLONG; /* cut, as far as can be seen */
    }
    (*to)[length] = '\0';
    char *slash = strrchr(*to, '/');
    *to = slash != NULL ? slash + 1 : *to;
    return 0;
}

/* Splits `text` into the words of the command. 0 or -errno. */
static int split(const struct request *request, const char *text, struct program *program, bool ours) {
    char *to = program->words;
    const char *end = program->words + sizeof program->words;
    size_t count = 0;
    int error = ours ? write_folder(request, &to, end) : 0;
    program->own_arguments[count++] = program->words;
    for (bool first = true; error == 0; first = false) {
        size_t length = word_length(text);
        if (!first) {
            if (count > PROGRAM_MOST_ARGUMENTS) {
                return -E2BIG;
            }
            program->own_arguments[count++] = to;
        }
        error = copy_word(text, length, &to, end);
        if (first && ours) {
            program->own_arguments[count++] = program->stamp_argument;
        }
        if (text[length] == '\0') {
            break;
        }
        text += length + 1;
    }
    program->own_arguments[count] = NULL;
    program->path = program->words;
    program->arguments = program->own_arguments;
    program->environment = environ;
    return error;
}

int launch_prepare_program(struct bench *bench, struct reason *reason) {
    return launch_prepare_command(bench, bench->request->program, reason);
}

int launch_prepare_command(struct bench *bench, const char *command, struct reason *reason) {
    struct program *program = bench->program;
    bool ours = memchr(command, '/', word_length(command)) == NULL;
    if (ours && bench->stamp_child && bench->stamps_fd < 0) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "a new program cannot stamp its start: memfd_create answers \"%s\" (a seccomp filter "
            "such as old container runtimes have, or ulimit -f), and /dev/shm takes no file; ask "
            "for stages=parent",
            strerror(-bench->stamps_fd));
    }
    /* What a target is told: the clock, and the descriptor and the place that it writes its stamp to. */
    snprintf(program->stamp_argument, sizeof program->stamp_argument, "%c%d:%d",
             clock_used.kind == CLOCK_KIND_TSC ? 't' : 'm', bench->stamp_child ? bench->stamps_fd : -1,
             bench->stamps_offset);
    int error = word_length(command) == 0 ? -ENOENT : split(bench->request, command, program, ours);
    if (error == 0 && access(program->path, X_OK) != 0) {
        error = -errno;
    }
    return error == 0 ? launch_pad_program(bench, reason)
                      : reason_set(reason, error == -E2BIG || error == -ENAMETOOLONG ? -EOPNOTSUPP : error,
                                   "program=%s cannot be started: %s", command, strerror(-error));
}
