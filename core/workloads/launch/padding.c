/* What exec hands to a program beside its own words: variables and arguments that bring the environment and
 * the arguments to a given size. exec copies every byte and looks at every word, and so do many C libraries
 * when they start: therefore the padding is made of words of an ordinary length, not of one long one. It is
 * made once, in shared memory, whose page table a fork does not copy. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/limits/limits.h"
#include "workloads/launch/launch.h"

enum {
    WORD_BYTES = 150,
    NAME_BYTES = 24, /* holds any "PAD123=" with the NUL */
    /* What exec takes at most whatever the stack's limit: 3/4 of _STK_LIM, fs/exec.c of Linux. */
    MOST_BYTES = 6 << 20
};

/* The variables by which the runner pads the environments of its drivers. */
static const char RUNNERS_PAD[] = "CLONOMETER_PAD";

struct padding {
    const char *axis;
    char *const *from; /* ended by NULL */
    int64_t asked;     /* 0: `from` as it is */
    bool variables;
    size_t kept; /* of `from` */
    size_t kept_bytes;
    size_t words; /* that are added */
};

static bool is_kept(const struct padding *padding, const char *word) {
    return padding->asked == 0 || !padding->variables ||
           strncmp(word, RUNNERS_PAD, sizeof RUNNERS_PAD - 1) != 0;
}

/* Counts what is there and what is missing. 0, or -errno with the reason. */
static int count(struct padding *padding, struct reason *reason) {
    for (char *const *word = padding->from; *word != NULL; word++) {
        padding->kept += is_kept(padding, *word);
        padding->kept_bytes += is_kept(padding, *word) ? strlen(*word) + 1 : 0;
    }
    size_t least = padding->variables ? NAME_BYTES : 1;
    size_t asked = (size_t)padding->asked;
    if (asked == 0 || asked == padding->kept_bytes) {
        return 0;
    }
    if (asked < padding->kept_bytes + least) {
        return reason_set(reason, -EOPNOTSUPP, "%s=%zu: must be at least %zu here", padding->axis, asked,
                          padding->kept_bytes + least);
    }
    size_t missing = asked - padding->kept_bytes;
    padding->words = missing < WORD_BYTES ? 1 : missing / WORD_BYTES;
    return 0;
}

static size_t pointers_bytes(const struct padding *padding) {
    return (padding->kept + padding->words + 1) * sizeof(char *);
}

static size_t strings_bytes(const struct padding *padding) {
    return padding->asked > 0 ? (size_t)padding->asked : padding->kept_bytes;
}

/* exec copies the strings and the pointers, and the stack's limit bounds both. */
static int check(const struct request *request, size_t bytes, struct reason *reason) {
    struct rlimit stack;
    size_t most = MOST_BYTES;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / 4 < most) {
        most = stack.rlim_cur / 4;
    }
    if (bytes > most) {
        return reason_set(reason, -EOPNOTSUPP,
                          "arguments and environment take %zu bytes with their pointers: exec takes %zu, "
                          "a quarter of RLIMIT_STACK and 6 MiB at most",
                          bytes, most);
    }
    const struct limits_need need = {.memory_bytes = (int64_t)bytes * request->concurrency};
    return need.memory_bytes > LIMITS_MARGIN_BYTES ? limits_check("", &need, reason) : 0;
}

/* Writes the list to `list` and the words that are added to `*to`, which is moved behind them. */
static void fill(const struct padding *padding, char **list, char **to) {
    size_t at = 0;
    for (char *const *word = padding->from; *word != NULL; word++) {
        if (is_kept(padding, *word)) {
            list[at++] = *word;
        }
    }
    size_t missing = strings_bytes(padding) - padding->kept_bytes;
    for (size_t number = 0; number < padding->words; number++) {
        size_t length = missing / (padding->words - number);
        memset(*to, 'x', length - 1);
        if (padding->variables) {
            char name[NAME_BYTES];
            memcpy(*to, name, (size_t)snprintf(name, sizeof name, "PAD%zu=", number));
        }
        (*to)[length - 1] = '\0';
        list[at++] = *to;
        *to += length;
        missing -= length;
    }
    list[at] = NULL;
}

int launch_pad_program(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    struct program *program = bench->program;
    struct padding arguments = {.axis = "arg_bytes", .from = program->arguments, .asked = request->arg_bytes};
    struct padding environment = {
        .axis = "env_bytes", .from = program->environment, .asked = request->env_bytes, .variables = true};
    if (request->arg_bytes == 0 && request->env_bytes == 0) {
        return 0;
    }
    /* Sizes that no sum of them overflows. */
    int error = check(request, (size_t)request->arg_bytes, reason);
    error = error != 0 ? error : check(request, (size_t)request->env_bytes, reason);
    error = error != 0 ? error : count(&arguments, reason);
    error = error != 0 ? error : count(&environment, reason);
    if (error != 0) {
        return error;
    }
    size_t lists = pointers_bytes(&arguments) + pointers_bytes(&environment);
    size_t bytes = lists + strings_bytes(&arguments) + strings_bytes(&environment);
    error = check(request, bytes, reason);
    if (error != 0) {
        return error;
    }
    /* It goes when this process ends. */
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        error = -errno;
        return reason_set(reason, error, "memory for the arguments cannot be mapped: %s", strerror(-error));
    }
    program->arguments = (char **)(void *)memory;
    program->environment = (char **)(void *)(memory + pointers_bytes(&arguments));
    char *to = memory + lists;
    fill(&arguments, program->arguments, &to);
    fill(&environment, program->environment, &to);
    return 0;
}
