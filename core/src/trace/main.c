/* The tracer: starts the probe, which stays as it is, and tells which clone flags the kernel received from
 * it.
 *
 *     tracer --fd N confirm METHOD PROBE key=value...
 *
 * METHOD is perf, ptrace, or auto for the first that this machine allows. The answer is one JSON object on
 * descriptor N; the probe's own answer goes nowhere. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit/json.h"
#include "sys/clone.h"
#include "sys/sys.h"
#include "trace/trace.h"

enum { MOST_WORDS = 64, ANSWER_BYTES = 2 << 20, FLAG_BITS = 64 };

static const char USAGE[] = "usage: tracer --fd N confirm perf|ptrace|auto PROBE key=value...\n";

int reason_set(struct reason *reason, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 overlooks the va_start above. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return error;
}

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

int main(int argc, char **argv) {
    char *end = NULL;
    if (argc < 6 || strcmp(argv[1], "--fd") != 0 || strcmp(argv[3], "confirm") != 0 ||
        (strcmp(argv[4], "perf") != 0 && strcmp(argv[4], "ptrace") != 0 && strcmp(argv[4], "auto") != 0)) {
        (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
        return 2;
    }
    errno = 0;
    long fd = strtol(argv[2], &end, 10);
    if (errno != 0 || end == argv[2] || *end != '\0' || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0) {
        dprintf(STDERR_FILENO, "tracer: --fd %s is not an open descriptor\n", argv[2]);
        return 2;
    }
    int error = confirm((int)fd, argv[4], argc - 5, argv + 5);
    if (error != 0) {
        dprintf(STDERR_FILENO, "tracer: %s\n", strerror(-error));
    }
    return error != 0;
}
