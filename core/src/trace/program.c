#include "trace/program.h"

#include <string.h>

enum { HELPER_TIME = 5, HELPER_CPU = 8, HELPER_TASK = 14, MAP_VALUE = 2 };
enum { WIDE_CONSTANT = BPF_DW /* of the class BPF_LD, which is 0 */ };
enum { TIME_AT = 0, TASK_AT = 8, KIND_AT = 16, VALUES_AT = 24 };

enum program_type program_type(enum event_kind kind) {
    switch (kind) {
    case EVENT_CALL_ENTER:
    case EVENT_CALL_EXIT:
    case EVENT_EXIT:
    case EVENT_FAULT_USER:
    case EVENT_FAULT_KERNEL:
        return PROGRAM_RAW;
    case EVENT_MINOR_FAULT:
    case EVENT_MAJOR_FAULT:
        return PROGRAM_PERF;
    default:
        return PROGRAM_TRACEPOINT;
    }
}

size_t program_memory_bytes(const struct program_layout *layout) {
    size_t cpus = (size_t)1 << layout->cpu_bits;
    return cpus * (NOTES_HEAD_BYTES + ((size_t)NOTE_BYTES << layout->note_bits));
}

struct writer {
    struct bpf_insn *program;
    size_t length;
};

static void put(struct writer *to, unsigned code, unsigned target, unsigned source, int offset,
                int64_t constant) {
    to->program[to->length++] = (struct bpf_insn){.code = (uint8_t)code,
                                                  .dst_reg = (uint8_t)(target & 15U),
                                                  .src_reg = (uint8_t)(source & 15U),
                                                  .off = (int16_t)offset,
                                                  .imm = (int32_t)constant};
}

static void copy(struct writer *to, unsigned target, unsigned source) {
    put(to, BPF_ALU64 | BPF_MOV | BPF_X, target, source, 0, 0);
}

static void with_constant(struct writer *to, unsigned operation, unsigned target, int64_t constant) {
    put(to, BPF_ALU64 | operation | BPF_K, target, 0, 0, constant);
}

static void call(struct writer *to, int helper) {
    put(to, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load(struct writer *to, unsigned size, unsigned target, unsigned source, int offset) {
    put(to, BPF_LDX | size | BPF_MEM, target, source, offset, 0);
}

static void store(struct writer *to, unsigned target, int offset, unsigned source) {
    put(to, BPF_STX | BPF_DW | BPF_MEM, target, source, offset, 0);
}

/* Leaves the place of the next note of this CPU in register 1: 6 is what the program was called with, 7 the
 * time, 8 the task. */
static void find_place(struct writer *to, const struct program_layout *layout, int map) {
    int64_t heads = (int64_t)NOTES_HEAD_BYTES << layout->cpu_bits;
    call(to, HELPER_CPU);
    copy(to, 9, 0);
    with_constant(to, BPF_AND, 9, ((int64_t)1 << layout->cpu_bits) - 1);
    put(to, WIDE_CONSTANT, 1, MAP_VALUE, 0, map);
    put(to, 0, 0, 0, 0, 0);
    copy(to, 2, 9);
    with_constant(to, BPF_LSH, 2, 6);
    copy(to, 3, 1);
    put(to, BPF_ALU64 | BPF_ADD | BPF_X, 3, 2, 0, 0);
    load(to, BPF_DW, 4, 3, 0);
    copy(to, 5, 4);
    with_constant(to, BPF_ADD, 5, 1);
    store(to, 3, 0, 5);
    with_constant(to, BPF_AND, 4, ((int64_t)1 << layout->note_bits) - 1);
    with_constant(to, BPF_LSH, 9, layout->note_bits);
    put(to, BPF_ALU64 | BPF_ADD | BPF_X, 4, 9, 0, 0);
    with_constant(to, BPF_LSH, 4, 6);
    with_constant(to, BPF_ADD, 1, heads);
    put(to, BPF_ALU64 | BPF_ADD | BPF_X, 1, 4, 0, 0);
}

static unsigned size_code(unsigned bytes) {
    return bytes == 8 ? BPF_DW : bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
}

static void store_fields(struct writer *to, const struct event_format *format) {
    int filled = 0;
    for (size_t i = 0; i < format->fields; i++) {
        const struct field *field = &format->field[i];
        unsigned step = field->bytes < 8 ? field->bytes : 8;
        for (unsigned done = 0; done + step <= field->bytes && filled < NOTE_VALUES; done += step) {
            load(to, size_code(step), 2, 6, (int)(field->at + done));
            if (field->is_signed && step < 8) {
                with_constant(to, BPF_LSH, 2, 64 - 8 * step);
                with_constant(to, BPF_ARSH, 2, 64 - 8 * step);
            }
            store(to, 1, VALUES_AT + 8 * filled++, 2);
        }
    }
}

/* The arguments of a raw tracepoint that are numbers, and which values they become; the others are pointers.
 * The number of a call that ends is not among them. */
static void store_arguments(struct writer *to, enum event_kind kind) {
    enum { REGISTERS_AND_NUMBER = 1, ADDRESS = 0, ERROR_CODE = 2 };
    const int *arguments = NULL;
    static const int ENTER[] = {REGISTERS_AND_NUMBER, -1};
    static const int LEAVE[] = {-1, REGISTERS_AND_NUMBER};
    static const int FAULT[] = {ADDRESS, -1, ERROR_CODE};
    static const int NONE[] = {-1, -1};
    int count = 2;
    if (kind == EVENT_FAULT_USER || kind == EVENT_FAULT_KERNEL) {
        arguments = FAULT;
        count = 3;
    } else {
        arguments = kind == EVENT_CALL_ENTER ? ENTER : kind == EVENT_CALL_EXIT ? LEAVE : NONE;
    }
    for (int i = 0; i < count; i++) {
        if (arguments[i] < 0) {
            put(to, BPF_ST | BPF_DW | BPF_MEM, 1, 0, VALUES_AT + 8 * i, -1);
        } else {
            load(to, BPF_DW, 2, 6, 8 * arguments[i]);
            store(to, 1, VALUES_AT + 8 * i, 2);
        }
    }
}

size_t program_build(struct bpf_insn *program, enum event_kind kind, enum program_type type,
                     const struct event_format *format, const struct program_layout *layout, int map,
                     int address_at) {
    struct writer to = {.program = program};
    copy(&to, 6, 1);
    call(&to, HELPER_TIME); /* first: what follows is not what is timed */
    copy(&to, 7, 0);
    call(&to, HELPER_TASK);
    copy(&to, 8, 0);
    find_place(&to, layout, map);
    store(&to, 1, TIME_AT, 7);
    store(&to, 1, TASK_AT, 8);
    put(&to, BPF_ST | BPF_DW | BPF_MEM, 1, 0, KIND_AT, kind);
    if (type == PROGRAM_RAW) {
        store_arguments(&to, kind);
    } else if (type == PROGRAM_PERF) {
        load(&to, BPF_DW, 2, 6, address_at);
        store(&to, 1, VALUES_AT, 2);
    } else {
        store_fields(&to, format);
    }
    with_constant(&to, BPF_MOV, 0, 0);
    put(&to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    return to.length;
}

void program_note(const unsigned char *memory, const struct program_layout *layout, unsigned cpu,
                  uint64_t index, struct trace_event *event) {
    uint64_t words[NOTE_BYTES / 8];
    uint64_t slot = index & (((uint64_t)1 << layout->note_bits) - 1);
    size_t at = ((size_t)NOTES_HEAD_BYTES << layout->cpu_bits) +
                (((size_t)cpu << layout->note_bits) + slot) * NOTE_BYTES;
    memcpy(words, memory + at, sizeof words);
    /* The upper half of the task is its process, by the kernel's own numbers and not by our namespace's. */
    *event = (struct trace_event){.time_ns = words[0],
                                  .task = (int32_t)(words[1] & UINT32_MAX),
                                  .cpu = (uint16_t)cpu,
                                  .kind = (uint16_t)words[2]};
    memcpy(event->values, words + VALUES_AT / 8, NOTE_VALUES * sizeof *words);
}

uint64_t program_notes(const unsigned char *memory, unsigned cpu) {
    uint64_t notes;
    memcpy(&notes, memory + (size_t)cpu * NOTES_HEAD_BYTES, sizeof notes);
    return notes;
}
