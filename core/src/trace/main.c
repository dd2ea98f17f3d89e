/* The tracer: starts the probe, which stays as it is, and tells which clone flags the kernel received from
 * it.
 *
 *     tracer --fd N confirm METHOD PROBE key=value...
 *
 * METHOD is perf, ptrace, or auto for the first that this machine allows. The answer is one JSON object on
 * descriptor N; the probe's own answer goes nowhere.
 *
 *     tracer --fd N trace key=value... -- PROGRAM WORD...
 *
 * Starts the program, one of whose words is "{traced fd}", and gives on descriptor N what the kernel told of
 * it, with its own answer among it (docs/tracing.md). Keys: how=none|own|tracepoints|ptrace|fast, events=
 * a list of tasks,sched,calls,faults,samples,exec,main,futex,locks, ring_bytes=, period_ns=,
 * stamps=tsc|monotonic, counters=hardware|software (with tracepoints), window_ns=, fault_run=, mark_file= and
 * marks= (with fast).
 *
 *     tracer --fd N ways
 *
 * Says in one JSON object why fast, tracepoints and own are refused here; null: they are not. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit/json.h"
#include "keys.h"
#include "sys/clone.h"
#include "sys/sys.h"
#include "trace/files.h"
#include "trace/send.h"
#include "trace/trace.h"
#include "trace/ways.h"

enum { MOST_WORDS = 64, ANSWER_BYTES = 2 << 20, FLAG_BITS = 64, MOST_RUN = 1 << 30 };

static const char USAGE[] = "usage: tracer --fd N confirm perf|ptrace|auto PROBE key=value...\n"
                            "       tracer --fd N trace key=value... -- PROGRAM WORD...\n"
                            "       tracer --fd N ways\n";

void trace_note(struct trace *trace, const struct new_task *task) {
    if (trace->count < TRACE_MOST_TASKS) {
        trace->tasks[trace->count++] = *task;
    } else {
        trace->lost++;
    }
}

static void write_task(struct json *json, const struct new_task *task) {
    char flags[24];
    snprintf(flags, sizeof flags, "0x%" PRIx64, task->flags);
    json_open(json, NULL, '{');
    json_int(json, "tid", task->tid);
    json_text(json, "flags", flags);
    json_open(json, "names", '[');
    for (unsigned bit = 0; bit < FLAG_BITS; bit++) {
        if (((task->flags >> bit) & 1U) != 0) {
            json_text(json, NULL, clone_flag_name(bit) != NULL ? clone_flag_name(bit) : "unknown");
        }
    }
    json_close(json, ']');
    json_close(json, '}');
}

static int send_answer(int fd, const char *method, const struct trace *trace, int error, const char *reason) {
    static char buffer[ANSWER_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "status", error == 0 ? "ok" : "skipped");
    json_text(&json, "method", method);
    /* With "ok" it says why the better method was not used. */
    json_text(&json, "reason", reason[0] != '\0' ? reason : NULL);
    json_int(&json, "exit_status", trace->exit_status);
    json_int(&json, "lost", (int64_t)trace->lost);
    json_open(&json, "tasks", '[');
    for (size_t i = 0; error == 0 && i < trace->count; i++) {
        write_task(&json, &trace->tasks[i]);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return json.overflow ? -EOVERFLOW : sys_write_all(fd, json.buffer, json.length);
}

static int confirm(int fd, const char *method, int count, char **words) {
    static struct trace trace;
    struct reason reason = {""};
    char sink[16];
    char option[] = "--fd";
    char *arguments[MOST_WORDS + 4];
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || count < 1 || count > MOST_WORDS) {
        return -EINVAL;
    }
    snprintf(sink, sizeof sink, "%d", nowhere);
    arguments[0] = words[0];
    arguments[1] = option;
    arguments[2] = sink;
    memcpy(arguments + 3, words + 1, (size_t)count * sizeof *words);
    arguments[count + 2] = NULL;
    const char *used = strcmp(method, "ptrace") == 0 ? "ptrace" : "perf";
    int error = -EINVAL;
    if (strcmp(used, "perf") == 0) {
        error = trace_by_perf(arguments, &trace, &reason);
    }
    if (strcmp(used, "ptrace") == 0 || (error != 0 && strcmp(method, "auto") == 0)) {
        used = "ptrace";
        error = trace_by_ptrace(arguments, &trace, &reason);
    }
    return send_answer(fd, used, &trace, error, reason.text);
}

static bool is_one_of(const char *value, const char *const *names, int *index) {
    for (*index = 0; names[*index] != NULL; (*index)++) {
        if (strcmp(value, names[*index]) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_events(const char *list, unsigned *wanted) {
    static const char *const NAMES[] = {"tasks", "sched", "calls", "faults", "samples",
                                        "exec",  "main",  "futex", "locks",  NULL};
    char copy[128];
    char *rest = copy;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        int index = 0;
        if (!is_one_of(name, NAMES, &index)) {
            return false;
        }
        *wanted |= 1U << index;
    }
    return true;
}

static bool read_number(const char *text, uint64_t *number) {
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return errno == 0 && end != text && *end == '\0' && value > 0 && value < (1ULL << 40);
}

/* Offsets in a file, an r behind each whose function's return is meant. */
static bool read_marks(const char *list, struct fast_marks *marks) {
    for (const char *at = list; marks->count < FAST_MOST_MARKS; at++) {
        char *end = NULL;
        marks->offsets[marks->count] = strtoull(at, &end, 10);
        if (end == at) {
            return false;
        }
        marks->returns[marks->count++] = *end == 'r';
        at = *end == 'r' ? end + 1 : end;
        if (*at != ',') {
            return *at == '\0';
        }
    }
    return false;
}

static bool read_key(const char *word, struct listening *listening) {
    static const char *const HOW[] = {"none", "own", "tracepoints", "ptrace", "fast", NULL};
    static const char *const STAMPS[] = {"monotonic", "tsc", NULL};
    const char *value = NULL;
    int index = 0;
    uint64_t number = 0;
    if (key_is(word, "how", &value) && is_one_of(value, HOW, &index)) {
        listening->how = (enum listen_how)index;
    } else if (key_is(word, "counters", &value)) {
        listening->counters = counter_set_named(value);
        return listening->counters != NULL;
    } else if (key_is(word, "stamps", &value) && is_one_of(value, STAMPS, &index)) {
        listening->tsc = index == 1;
    } else if (key_is(word, "events", &value)) {
        return read_events(value, &listening->wanted);
    } else if (key_is(word, "ring_bytes", &value) && read_number(value, &number)) {
        listening->ring_bytes = (size_t)number;
    } else if (key_is(word, "window_ns", &value) && read_number(value, &number)) {
        listening->window_ns = number;
    } else if (key_is(word, "period_ns", &value) && read_number(value, &number)) {
        listening->sample_period_ns = number;
    } else if (key_is(word, "mark_file", &value) && strlen(value) < sizeof listening->marks.file) {
        memcpy(listening->marks.file, value, strlen(value) + 1);
    } else if (key_is(word, "marks", &value)) {
        return read_marks(value, &listening->marks);
    } else if (key_is(word, "fault_run", &value) && read_number(value, &number)) {
        listening->most_run = number < MOST_RUN ? (unsigned)number : MOST_RUN;
    } else {
        return false;
    }
    return true;
}

static int trace_program(int fd, int count, char **words) {
    static struct heard heard;
    struct listening listening = {.how = LISTEN_ALL, .ring_bytes = 8 << 20, .sample_period_ns = 100000};
    struct reason reason = {""};
    int i = 0;
    for (; i < count && strcmp(words[i], "--") != 0; i++) {
        if (!read_key(words[i], &listening)) {
            dprintf(STDERR_FILENO, "tracer: %s is no key with a value that it knows\n", words[i]);
            return 2;
        }
    }
    if (i + 1 >= count) {
        (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
        return 2;
    }
    if (listening.window_ns != 0 && listening.how != LISTEN_FAST) {
        dprintf(STDERR_FILENO, "tracer: window_ns takes how=fast\n");
        return 2;
    }
    (void)listen_to(&listening, words + i + 1, &heard, &reason);
    int error = send_heard(fd, &listening, &heard, reason.text);
    if (error != 0) {
        dprintf(STDERR_FILENO, "tracer: the answer cannot be sent: %s\n", strerror(-error));
    }
    return error != 0;
}

static bool is_confirm(int argc, char **argv) {
    return argc >= 6 && strcmp(argv[3], "confirm") == 0 &&
           (strcmp(argv[4], "perf") == 0 || strcmp(argv[4], "ptrace") == 0 || strcmp(argv[4], "auto") == 0);
}

int main(int argc, char **argv) {
    char *end = NULL;
    bool trace = argc >= 6 && strcmp(argv[3], "trace") == 0;
    bool ways = argc == 4 && strcmp(argv[3], "ways") == 0;
    if (argc < 4 || strcmp(argv[1], "--fd") != 0 || (!trace && !ways && !is_confirm(argc, argv))) {
        (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
        return 2;
    }
    errno = 0;
    long fd = strtol(argv[2], &end, 10);
    if (errno != 0 || end == argv[2] || *end != '\0' || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0) {
        dprintf(STDERR_FILENO, "tracer: --fd %s is not an open descriptor\n", argv[2]);
        return 2;
    }
    files_raise();
    if (trace) {
        return trace_program((int)fd, argc - 4, argv + 4);
    }
    int error = ways ? ways_send((int)fd) : confirm((int)fd, argv[4], argc - 5, argv + 5);
    if (error != 0) {
        dprintf(STDERR_FILENO, "tracer: %s\n", strerror(-error));
    }
    return error != 0;
}
