/* Counts the tasks that a program makes.
 *
 *     clonometer-census --fd N [key=value...] -- COMMAND WORD...
 *     clonometer-census --fd N pid=PID [key=value...]
 *
 * Keys: how=auto|tracepoints|ptrace, seconds=, until=all, ring_bytes=. The answer on descriptor N is JSON, a
 * line a task (docs/census.md). The command keeps its input and output. The exit status is 0 whatever became
 * of it, which the answer tells; 2 for wrong words. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "census/census.h"
#include "census/roots.h"
#include "census/signals.h"
#include "keys.h"
#include "trace/files.h"

static const char USAGE[] =
    "usage: clonometer-census --fd N [how=auto|tracepoints|ptrace] [seconds=S] [until=all] "
    "[ring_bytes=B] pid=PID | -- COMMAND WORD...\n";

enum how { HOW_AUTO, HOW_TRACEPOINTS, HOW_PTRACE };

static bool read_positive(const char *text, double most, double *number) {
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number > 0 && *number <= most;
}

static bool read_key(const char *word, struct census *census, enum how *how) {
    static const char *const HOW[] = {"auto", "tracepoints", "ptrace"};
    double number = 0;
    const char *value = NULL;
    for (int i = 0; key_is(word, "how", &value) && i < 3; i++) {
        if (strcmp(value, HOW[i]) == 0) {
            *how = (enum how)i;
            return true;
        }
    }
    if (key_is(word, "until", &value) && strcmp(value, "all") == 0) {
        census->until_all_end = true;
    } else if (key_is(word, "seconds", &value) && read_positive(value, 1e9, &number)) {
        census->most_ns = (int64_t)(number * 1e9);
    } else if (key_is(word, "ring_bytes", &value) && read_positive(value, 1 << 30, &number)) {
        census->ring_bytes = (size_t)number;
    } else if (key_is(word, "pid", &value) && read_positive(value, 1 << 22, &number)) {
        census->pid = (pid_t)number;
    } else {
        return false;
    }
    return true;
}

static bool read_words(int argc, char **argv, struct census *census, enum how *how) {
    char *end = NULL;
    if (argc < 4 || strcmp(argv[1], "--fd") != 0) {
        return false;
    }
    census->answer = (int)strtol(argv[2], &end, 10);
    if (end == argv[2] || *end != '\0' || fcntl(census->answer, F_SETFD, FD_CLOEXEC) != 0) {
        return false;
    }
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            census->command = i + 1 < argc ? argv + i + 1 : NULL;
            return census->command != NULL && census->pid == 0;
        }
        if (!read_key(argv[i], census, how)) {
            return false;
        }
    }
    return census->pid > 0;
}

/* Holds nothing that others wait for: to stop listening takes the kernel some tenths of a second. */
static void leave_alone(int answer) {
    close(answer);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        close(fd);
    }
    (void)chdir("/");
}

static int take(struct census *census, enum how how, struct family **family, struct reason *reason) {
    int error = -ENOSYS;
    if (how != HOW_PTRACE) {
        error = census_by_tracepoints(census, family, reason);
    }
    /* What is wrong with the command or the process is wrong with it for ptrace as well. */
    if (how == HOW_PTRACE || (how == HOW_AUTO && error != 0 && census->how == NULL)) {
        snprintf(census->without, sizeof census->without, "%s", how == HOW_AUTO ? reason->text : "");
        error = census_by_ptrace(census, family, reason);
    }
    return error;
}

int main(int argc, char **argv) {
    struct census census = {.exit_status = CENSUS_UNKNOWN, .ring_bytes = 4 << 20};
    struct census_totals totals = {.created = 0};
    struct family *family = NULL;
    struct reason reason = {""};
    enum how how = HOW_AUTO;
    if (!read_words(argc, argv, &census, &how)) {
        fputs(USAGE, stderr);
        return 2;
    }
    signals_catch();
    files_raise();
    int error = take(&census, how, &family, &reason);
    if (error == 0) {
        reason.text[0] = '\0';
    }
    if (census.end_ns == 0) {
        census.end_ns = census.begin_ns = census_now_ns();
    }
    if (family != NULL) {
        family_end(family, census.end_ns, &totals);
    }
    if (census.command != NULL && census.pid > 0 && census.exit_status < 0) {
        command_kill(&census);
    }
    error = tell_end(&census, &totals, reason.text);
    family_free(family);
    roots_free(census.asked_to_end);
    if (error != 0) {
        fprintf(stderr, "clonometer-census: the answer cannot be sent: %s\n", strerror(-error));
    }
    /* Whoever waits for the answer, or for the end of what the command wrote, has it all. */
    leave_alone(census.answer);
    census_forget();
    return error != 0;
}
