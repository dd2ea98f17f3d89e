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

#include "base/clone.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/sys.h"
#include "events/files.h"
#include "tracer/send.h"
#include "tracer/trace.h"
#include "tracer/ways.h"

enum { MOST_WORDS = 64, ANSWER_BYTES = 2 << 20, FLAG_BITS = 64, MOST_RUN = 1 << 30 };
#define MOST_NUMBER ((INT64_C(1) << 40) - 1)

static const char USAGE[] = "usage: tracer --fd N confirm perf|ptrace|auto PROBE key=value...\n"
                            "       tracer --fd N trace key=value... -- PROGRAM WORD...\n"
                            "       tracer --fd N ways\n";

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

/* What `trace` is asked for, as the keys fill it. */
struct asked {
    int64_t how;
    int64_t stamps;
    int64_t events;
    int64_t ring_bytes;
    int64_t window_ns;
    int64_t period_ns;
    int64_t fault_run;
    const char *counters;
    const char *mark_file;
    const char *marks;
};

#define NUMBER(word, unit, field)                                                                            \
    {.name = (word), .kind = (unit), .offset = offsetof(struct asked, field), .least = 1, .most = MOST_NUMBER}
#define TEXT(word, field)                                                                                    \
    {.name = (word), .kind = KEY_TEXT, .keep_text = true, .offset = offsetof(struct asked, field)}
#define CHOICE(word, what, kept, field, ...)                                                                 \
    {                                                                                                        \
        .name = (word), .kind = (what), .keep_text = (kept), .offset = offsetof(struct asked, field),        \
        .choices = (const char *const[]) {                                                                   \
            __VA_ARGS__, NULL                                                                                \
        }                                                                                                    \
    }

/* The choices are in the order of enum listen_how and of RINGS_*. */
static const struct key KEYS[] = {
    CHOICE("how", KEY_CHOICE, false, how, "none", "own", "tracepoints", "ptrace", "fast"),
    CHOICE("stamps", KEY_CHOICE, false, stamps, "monotonic", "tsc"),
    CHOICE("events", KEY_LIST, false, events, "tasks", "sched", "calls", "faults", "samples", "exec", "main",
           "futex", "locks"),
    CHOICE("counters", KEY_CHOICE, true, counters, "hardware", "software"),
    NUMBER("ring_bytes", KEY_BYTES, ring_bytes),
    NUMBER("window_ns", KEY_COUNT, window_ns),
    NUMBER("period_ns", KEY_COUNT, period_ns),
    NUMBER("fault_run", KEY_COUNT, fault_run),
    TEXT("mark_file", mark_file),
    TEXT("marks", marks),
    {.name = NULL},
};

static int set_marks(const struct asked *asked, struct fast_marks *marks, struct reason *reason) {
    if (asked->mark_file != NULL) {
        size_t length = strlen(asked->mark_file);
        if (length >= sizeof marks->file) {
            return reason_set(reason, -EINVAL, "mark_file has %zu bytes; allowed: at most %zu", length,
                              sizeof marks->file - 1);
        }
        memcpy(marks->file, asked->mark_file, length + 1);
    }
    if (asked->marks != NULL && !read_marks(asked->marks, marks)) {
        return reason_set(reason, -EINVAL,
                          "marks=%s: not 1 to %d offsets with commas between, each with r or not",
                          asked->marks, FAST_MOST_MARKS);
    }
    return 0;
}

/* Reads the words up to the one that ends them. 0, or -EINVAL with the reason. */
static int read_words(int count, char **words, struct listening *listening, struct reason *reason) {
    struct asked asked = {.how = LISTEN_ALL, .ring_bytes = 8 << 20, .period_ns = 100000};
    for (int i = 0; i < count; i++) {
        int error = keys_read(words[i], KEYS, &asked, reason);
        if (error != 0) {
            return error;
        }
    }
    *listening = (struct listening){
        .how = (enum listen_how)asked.how,
        .wanted = (unsigned)asked.events,
        .ring_bytes = (size_t)asked.ring_bytes,
        .sample_period_ns = (uint64_t)asked.period_ns,
        .most_run = asked.fault_run < MOST_RUN ? (unsigned)asked.fault_run : MOST_RUN,
        .counters = asked.counters != NULL ? counter_set_named(asked.counters) : NULL,
        .window_ns = (uint64_t)asked.window_ns,
        .tsc = asked.stamps == 1,
    };
    if (listening->window_ns != 0 && listening->how != LISTEN_FAST) {
        return reason_set(reason, -EINVAL, "window_ns needs how=fast");
    }
    return set_marks(&asked, &listening->marks, reason);
}

static int trace_program(int fd, int count, char **words) {
    static struct heard heard;
    struct listening listening;
    struct reason reason = {""};
    int i = 0;
    while (i < count && strcmp(words[i], "--") != 0) {
        i++;
    }
    if (read_words(i, words, &listening, &reason) != 0) {
        dprintf(STDERR_FILENO, "tracer: %s\n", reason.text);
        return 2;
    }
    if (i + 1 >= count) {
        (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
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
    static const char *const METHODS[] = {"perf", "ptrace", "auto", NULL};
    return argc >= 6 && strcmp(argv[3], "confirm") == 0 &&
           keys_choice(argv[4], strlen(argv[4]), METHODS) >= 0;
}

int main(int argc, char **argv) {
    struct reason reason = {""};
    bool trace = argc >= 6 && strcmp(argv[3], "trace") == 0;
    bool ways = argc == 4 && strcmp(argv[3], "ways") == 0;
    if (argc < 4 || strcmp(argv[1], "--fd") != 0 || (!trace && !ways && !is_confirm(argc, argv))) {
        (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
        return 2;
    }
    int fd = keys_descriptor(argv[2], &reason);
    if (fd < 0) {
        dprintf(STDERR_FILENO, "tracer: %s\n", reason.text);
        return 2;
    }
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    files_raise();
    if (trace) {
        return trace_program(fd, argc - 4, argv + 4);
    }
    int error = ways ? ways_send(fd) : confirm(fd, argv[4], argc - 5, argv + 5);
    if (error != 0) {
        dprintf(STDERR_FILENO, "tracer: %s\n", strerror(-error));
    }
    return error != 0;
}
