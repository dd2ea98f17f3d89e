/* Counts the tasks that a program makes.
 *
 *     clonometer-census --fd N [key=value...] -- COMMAND WORD...
 *     clonometer-census --fd N pid=PID [key=value...]
 *     clonometer-census --fd N cgroup=HIERARCHY:PATH [key=value...]
 *
 * Keys: how=auto|tracepoints|ptrace, seconds=, until=all, ring_bytes=, stacks=no|yes, calls=no|yes,
 * debuginfod=no|yes. The answer on descriptor N is JSON, a line a task (docs/census.md). The command keeps
 * its input and output. The exit status is 0 whatever became of it, which the answer tells; 2 for wrong
 * words. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/keys.h"
#include "census/answer.h"
#include "census/census.h"
#include "census/roots.h"
#include "census/signals.h"
#include "events/files.h"

static const char USAGE[] =
    "usage: clonometer-census --fd N [how=auto|tracepoints|ptrace] [seconds=S] [until=all] "
    "[ring_bytes=B] pid=PID | cgroup=HIERARCHY:PATH | -- COMMAND WORD...\n";

enum { FIRST_KEY = 3 }; /* after --fd N */

enum how { HOW_AUTO, HOW_TRACEPOINTS, HOW_PTRACE };

/* What it is asked for, as the keys fill it. */
struct asked {
    int64_t how;
    int64_t ring_bytes;
    int64_t pid;
    const char *cgroup;
    const char *seconds;
    const char *until;
    int64_t stacks;
    int64_t debuginfod;
    int64_t calls;
};

#define FIELD(name) offsetof(struct asked, name)

static const char *const NO_YES[] = {"no", "yes", NULL};

static const struct key KEYS[] = {
    {.name = "how",
     .kind = KEY_CHOICE,
     .offset = FIELD(how),
     .choices = (const char *const[]){"auto", "tracepoints", "ptrace", NULL}},
    {.name = "seconds", .kind = KEY_TEXT, .keep_text = true, .offset = FIELD(seconds)},
    {.name = "until",
     .kind = KEY_CHOICE,
     .keep_text = true,
     .offset = FIELD(until),
     .choices = (const char *const[]){"all", NULL}},
    {.name = "stacks", .kind = KEY_CHOICE, .offset = FIELD(stacks), .choices = NO_YES},
    {.name = "calls", .kind = KEY_CHOICE, .offset = FIELD(calls), .choices = NO_YES},
    {.name = "debuginfod", .kind = KEY_CHOICE, .offset = FIELD(debuginfod), .choices = NO_YES},
    {.name = "ring_bytes", .kind = KEY_BYTES, .offset = FIELD(ring_bytes), .least = 1, .most = 1 << 30},
    {.name = "pid", .kind = KEY_COUNT, .offset = FIELD(pid), .least = 1, .most = 1 << 22},
    {.name = "cgroup", .kind = KEY_TEXT, .keep_text = true, .offset = FIELD(cgroup)},
    {.name = NULL},
};

static int read_seconds(const char *text, int64_t *time_ns, struct reason *reason) {
    static const double LEAST_S = 1e-9;
    static const double MOST_S = 1e9;
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= LEAST_S && seconds <= MOST_S)) {
        return reason_set(reason, -EINVAL, "seconds=%s: not a number from %g to %g", text, LEAST_S, MOST_S);
    }
    *time_ns = (int64_t)(seconds * 1e9);
    return 0;
}

/* Reads the words up to the one that ends them. 0, or -EINVAL with the reason. */
static int read_keys(int count, char **words, struct census *census, enum how *how, struct reason *reason) {
    struct asked asked = {.how = HOW_AUTO, .ring_bytes = 4 << 20, .stacks = 1, .calls = 1};
    for (int i = 0; i < count; i++) {
        int error = keys_read(words[i], KEYS, &asked, reason);
        if (error != 0) {
            return error;
        }
    }
    *how = (enum how)asked.how;
    census->until_all_end = asked.until != NULL;
    census->ring_bytes = (size_t)asked.ring_bytes;
    census->pid = (pid_t)asked.pid;
    census->cgroup = asked.cgroup;
    census->stacks = asked.stacks != 0;
    census->calls = asked.calls != 0;
    census->debuginfod = asked.debuginfod != 0;
    return asked.seconds != NULL ? read_seconds(asked.seconds, &census->most_ns, reason) : 0;
}

/* False: with the reason, or where the words as a whole are wrong without one. */
static bool read_words(int argc, char **argv, struct census *census, enum how *how, struct reason *reason) {
    if (argc < FIRST_KEY + 1 || strcmp(argv[1], "--fd") != 0) {
        return false;
    }
    census->answer = keys_descriptor(argv[2], reason);
    if (census->answer < 0) {
        return false;
    }
    (void)fcntl(census->answer, F_SETFD, FD_CLOEXEC);
    int keys_end = FIRST_KEY;
    while (keys_end < argc && strcmp(argv[keys_end], "--") != 0) {
        keys_end++;
    }
    if (read_keys(keys_end - FIRST_KEY, argv + FIRST_KEY, census, how, reason) != 0) {
        return false;
    }
    census->command = keys_end + 1 < argc ? argv + keys_end + 1 : NULL;
    /* Either a process or groups that run already, or a command, and no `--` without one. */
    int watched = (census->pid > 0) + (census->cgroup != NULL);
    return keys_end == argc ? watched == 1 : census->command != NULL && watched == 0;
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

/* libdw asks the servers that a variable names, which the command keeps. */
static void ask_no_servers(struct census *census) {
    const char *urls = getenv(DEBUGINFOD_URLS);
    if (urls != NULL && !census->debuginfod) {
        census->debuginfod_urls = strdup(urls);
        unsetenv(DEBUGINFOD_URLS);
    }
}

int main(int argc, char **argv) {
    struct census census = {.exit_status = CENSUS_UNKNOWN, .own_faults = CENSUS_UNKNOWN};
    struct census_totals totals = {.created = 0};
    struct family *family = NULL;
    struct reason reason = {""};
    enum how how = HOW_AUTO;
    if (!read_words(argc, argv, &census, &how, &reason)) {
        if (reason.text[0] != '\0') {
            fprintf(stderr, "clonometer-census: %s\n", reason.text);
        } else {
            fputs(USAGE, stderr);
        }
        return 2;
    }
    signals_catch();
    answer_begin(census.answer);
    files_raise();
    ask_no_servers(&census);
    census.sites = census.stacks ? sites_new() : NULL;
    int error = take(&census, how, &family, &reason);
    if (error == 0) {
        reason.text[0] = '\0';
    }
    if (census.end_ns == 0) {
        census.end_ns = census.begin_ns = census_now_ns();
    }
    command_kill(&census);
    /* Also where the command has ended by the signal that came to both. */
    census.interrupted = census.interrupted || signals_came(census.exit_status - 128);
    (void)answer_await(census.answer);
    if (family != NULL) {
        family_end(family, census.end_ns, &totals);
    }
    tell_sites(&census);
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
