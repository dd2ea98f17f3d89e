#include "tracer/send.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sys.h"
#include "call_names.h"

enum { HEAD_BYTES = 128 << 10, MOST_CALLS = 1024 };

static int send_frame(int fd, const char kind[4], const void *data, size_t length) {
    unsigned char head[16] = {0};
    uint64_t bytes = length;
    memcpy(head, kind, 4);
    memcpy(head + 8, &bytes, sizeof bytes);
    int error = sys_write_all(fd, head, sizeof head);
    return error != 0 || length == 0 ? error : sys_write_all(fd, data, length);
}

/* The names of the system calls that were seen. */
static void write_calls(struct json *json, const struct collection *collection) {
    bool seen[MOST_CALLS] = {false};
    for (size_t i = 0; i < collection->count; i++) {
        int64_t number = collection->events[i].values[0];
        if (collection->events[i].kind == EVENT_CALL_ENTER && number >= 0 && number < MOST_CALLS) {
            seen[number] = true;
        }
    }
    json_open(json, "calls", '{');
    for (size_t i = 0; i < sizeof CALL_NAMES / sizeof CALL_NAMES[0]; i++) {
        if (CALL_NAMES[i].number < MOST_CALLS && seen[CALL_NAMES[i].number]) {
            char number[16];
            snprintf(number, sizeof number, "%d", CALL_NAMES[i].number);
            json_text(json, number, CALL_NAMES[i].name);
        }
    }
    json_close(json, '}');
}

static void write_clock(struct json *json, const struct listening *listening, const struct heard *heard) {
    json_text(json, "stamps", listening->tsc ? "tsc" : "monotonic");
    json_open(json, "pairs", '[');
    for (int i = 0; i < 2; i++) {
        json_open(json, NULL, '[');
        json_int(json, NULL, (int64_t)heard->pairs[i][0]);
        json_int(json, NULL, (int64_t)heard->pairs[i][1]);
        json_close(json, ']');
    }
    json_close(json, ']');
}

/* When somebody listened and when nobody did: begin, end, and whether. */
static void write_windows(struct json *json, const struct windows *windows) {
    json_open(json, "windows", '[');
    for (size_t i = 0; i < windows->count; i++) {
        json_open(json, NULL, '[');
        json_int(json, NULL, (int64_t)windows->window[i].begin_ns);
        json_int(json, NULL, (int64_t)windows->window[i].end_ns);
        json_int(json, NULL, windows->window[i].listened);
        json_close(json, ']');
    }
    json_close(json, ']');
}

/* Which counters were read at each event, and of the others of that set why not. */
static void write_counters(struct json *json, const struct listening *listening, const struct heard *heard) {
    json_open(json, "counters", '[');
    for (size_t i = 0; i < heard->counters; i++) {
        json_text(json, NULL, heard->counted[i]->name);
    }
    json_close(json, ']');
    json_open(json, "counters_refused", '{');
    for (size_t i = 0; listening->counters != NULL && i < COUNTERS_MOST; i++) {
        if (heard->refused[i][0] != '\0') {
            json_text(json, listening->counters->counter[i].name, heard->refused[i]);
        }
    }
    json_close(json, '}');
}

static int send_head(int fd, const struct listening *listening, const struct heard *heard,
                     const char *reason) {
    static const char *const HOW[] = {"none", "own", "tracepoints", "ptrace", "fast"};
    static char buffer[HEAD_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "status", reason[0] == '\0' ? "ok" : "refused");
    json_text(&json, "reason", reason[0] == '\0' ? NULL : reason);
    json_text(&json, "how", HOW[listening->how]);
    json_int(&json, "process", heard->process);
    json_int(&json, "task", heard->task);
    json_int(&json, "exit_status", heard->exit_status);
    json_int(&json, "lost", (int64_t)(heard->lost + heard->missed));
    json_int(&json, "missed", (int64_t)heard->missed);
    json_int(&json, "whole_from_ns", (int64_t)heard->whole[0]);
    json_int(&json, "whole_to_ns", (int64_t)heard->whole[1]);
    json_text(&json, "marks_refused", heard->marks_refused[0] == '\0' ? NULL : heard->marks_refused);
    json_int(&json, "faults_left_out", (int64_t)heard->left_out);
    json_int(&json, "ring_bytes", (int64_t)listening->ring_bytes);
    json_int(&json, "sample_period_ns", (int64_t)listening->sample_period_ns);
    json_int(&json, "event_bytes", (int64_t)sizeof(struct trace_event));
    json_open(&json, "kinds", '[');
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        json_text(&json, NULL, event_kind_name((enum event_kind)kind));
    }
    json_close(&json, ']');
    write_clock(&json, listening, heard);
    write_calls(&json, &heard->collection);
    write_counters(&json, listening, heard);
    write_windows(&json, &heard->windows);
    json_close(&json, '}');
    return json.overflow ? -EOVERFLOW : send_frame(fd, "HEAD", json.buffer, json.length);
}

int send_heard(int fd, const struct listening *listening, const struct heard *heard, const char *reason) {
    const struct collection *collection = &heard->collection;
    unsigned char preamble[16] = "CLNTRACE";
    preamble[8] = 1;
    int error = sys_write_all(fd, preamble, sizeof preamble);
    error = error != 0 ? error : send_head(fd, listening, heard, reason);
    if (error != 0 || reason[0] != '\0') {
        return error;
    }
    error = send_frame(fd, "EVNT", collection->events, collection->count * sizeof *collection->events);
    error = error != 0 ? error : send_frame(fd, "TEXT", collection->texts, collection->text_bytes);
    error = error != 0 ? error
                       : send_frame(fd, "STCK", collection->stacks,
                                    collection->stack_words * sizeof *collection->stacks);
    error = error != 0 ? error : send_frame(fd, "MAPS", heard->maps, strlen(heard->maps));
    return error != 0 ? error : send_frame(fd, "ANSW", heard->answer.data, heard->answer.length);
}
