#include "events/bpf.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/assemble.h"

/* A log has up to two lines for each instruction that is followed. */
enum { LOG_BYTES = 1 << 18, LINE_BYTES = 120, VERDICT_BYTES = 2 * LINE_BYTES + 16 };

long bpf_call(enum bpf_cmd command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : result;
}

int bpf_open_map(int *map, enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes,
                 unsigned entries) {
    union bpf_attr attributes = {
        .map_type = type, .key_size = key_bytes, .value_size = value_bytes, .max_entries = entries};
    long made = bpf_call(BPF_MAP_CREATE, &attributes);
    *map = made < 0 ? -1 : (int)made;
    return made < 0 ? (int)made : 0;
}

/* Of a line without its end: "12: (79) r6 = *(u64 *)(r1 +8)". */
static bool is_instruction(const char *line, size_t length) {
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)line[digits])) {
        digits++;
    }
    return digits > 0 && length > digits + 2 && strncmp(line + digits, ": (", 3) == 0;
}

/* Adds a line, cut, of which nothing but text is kept. */
static size_t add_line(char *text, size_t length, size_t capacity, const char *line, size_t bytes) {
    if (length > 0 && length + 2 < capacity) {
        text[length++] = ':';
        text[length++] = ' ';
    }
    for (size_t i = 0; i < bytes && i < LINE_BYTES && length + 1 < capacity; i++) {
        text[length++] = isprint((unsigned char)line[i]) ? line[i] : ' ';
    }
    text[length] = '\0';
    return length;
}

void bpf_verdict(const char *log, char *text, size_t capacity) {
    static const char SUMMARY[] = "processed ";
    const char *instruction = NULL;
    const char *reason = NULL;
    size_t length = 0;
    for (const char *line = log; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t bytes = strcspn(line, "\n");
        if (is_instruction(line, bytes)) {
            instruction = line;
        } else if (bytes > 0 && strncmp(line, SUMMARY, strlen(SUMMARY)) != 0) {
            reason = line;
        }
    }
    text[0] = '\0';
    if (reason == NULL || (instruction != NULL && reason < instruction)) {
        return;
    }
    if (instruction != NULL) {
        /* What is known of its registers stands behind a semicolon. */
        length = add_line(text, length, capacity, instruction, strcspn(instruction, ";\n"));
    }
    (void)add_line(text, length, capacity, reason, strcspn(reason, "\n"));
}

/* The log is asked for where the kernel has refused a program, since it takes the verifier longer. */
static long load_again(union bpf_attr *attributes, struct reason *why) {
    char verdict[VERDICT_BYTES] = "";
    char *log = calloc(LOG_BYTES, 1);
    attributes->log_level = log != NULL;
    attributes->log_size = log != NULL ? LOG_BYTES : 0;
    attributes->log_buf = (uint64_t)(uintptr_t)log;
    long loaded = bpf_call(BPF_PROG_LOAD, attributes);
    if (loaded < 0 && log != NULL) {
        log[LOG_BYTES - 1] = '\0';
        bpf_verdict(log, verdict, sizeof verdict);
    }
    free(log);
    if (loaded < 0) {
        reason_set(why, (int)loaded, "%s%s%s", strerror((int)-loaded), verdict[0] != '\0' ? ": " : "",
                   verdict);
    }
    return loaded;
}

static long offer(union bpf_attr *attributes, const struct writer *program, struct reason *why) {
    if (program->error != 0) {
        return reason_set(why, program->error, "a program for the kernel does not fit (%s)",
                          program->error == -E2BIG ? "it has too many instructions"
                                                   : "a place in the kernel's records is too far off");
    }
    attributes->insn_cnt = (uint32_t)program->length;
    attributes->insns = (uint64_t)(uintptr_t)program->program;
    memcpy(attributes->prog_name, "clonometer", sizeof "clonometer");
    long loaded = bpf_call(BPF_PROG_LOAD, attributes);
    return loaded < 0 ? load_again(attributes, why) : loaded;
}

long bpf_load(enum bpf_prog_type type, const struct writer *program, struct reason *why) {
    union bpf_attr attributes = {.prog_type = type, .license = (uint64_t)(uintptr_t)"Apache-2.0"};
    return offer(&attributes, program, why);
}

long bpf_load_typed(int32_t tracepoint, const struct writer *program, struct reason *why) {
    /* What a caller writes is its own: docs/decisions/0010-licence-in-the-kernel.md. */
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_TRACING,
                                 .expected_attach_type = BPF_TRACE_RAW_TP,
                                 .attach_btf_id = (uint32_t)tracepoint,
                                 .license = (uint64_t)(uintptr_t)"Dual MIT/GPL"};
    return offer(&attributes, program, why);
}

long bpf_attach_raw(const char *tracepoint, int program) {
    union bpf_attr attributes = {
        .raw_tracepoint = {.name = (uint64_t)(uintptr_t)tracepoint, .prog_fd = (uint32_t)program}};
    return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attributes);
}
