#include "tracer/program.h"

#include <string.h>
#include <sys/syscall.h>

#include "events/assemble.h"

enum { TIME_AT = 0, TASK_AT = 8, KIND_AT = 16, VALUES_AT = 24, POINTERS = 1 << 8 };
/* In a CPU's head. */
enum {
    NOTES_AT = 0,
    LAST_ADDRESS_AT = 8,
    RUN_TASK_AT = 16,
    RUN_AT = 24,
    LEFT_OUT_AT = 32,
    EXPECTED_AT = 40,
    MADE_AT = 48
};
enum { RUN_VALUE = 3, NEIGHBOURS = 64 << 10 };

enum program_type program_type(enum event_kind kind) {
    switch (kind) {
    case EVENT_CALL_ENTER:
    case EVENT_CALL_EXIT:
    case EVENT_NEW_TASK:
    case EVENT_WAKE:
    case EVENT_WAKE_NEW:
    case EVENT_SWITCH:
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

/* A program that writes to much memory one page after the other, as a probe does between its launches, would
 * fill all the room with it. Register 3 is the CPU's head; 4 and 5 are free. */
static void leave_out_long_runs(struct writer *to, const struct program_layout *layout, int address_at) {
    load(to, BPF_DW, 4, 6, address_at);
    load(to, BPF_DW, 5, 3, LAST_ADDRESS_AT);
    store(to, 3, LAST_ADDRESS_AT, 4);
    put(to, BPF_ALU64 | BPF_SUB | BPF_X, 4, 5, 0, 0);
    with_constant(to, BPF_ADD, 4, NEIGHBOURS);
    load(to, BPF_DW, 5, 3, RUN_AT);
    with_constant(to, BPF_ADD, 5, 1);
    size_t far = jump_constant(to, BPF_JGT, 4, (int64_t)2 * NEIGHBOURS);
    load(to, BPF_DW, 4, 3, RUN_TASK_AT);
    size_t same = jump(to, BPF_JEQ, 4, 8);
    land(to, far);
    with_constant(to, BPF_MOV, 5, 1);
    land(to, same);
    store(to, 3, RUN_AT, 5);
    store(to, 3, RUN_TASK_AT, 8);
    size_t noted = jump_constant(to, BPF_JLE, 5, (int64_t)layout->most_run + 1);
    load(to, BPF_DW, 4, 3, LEFT_OUT_AT);
    with_constant(to, BPF_ADD, 4, 1);
    store(to, 3, LEFT_OUT_AT, 4);
    to->to_end = to->length;
    put(to, BPF_JMP | BPF_JA, 0, 0, 0, 0);
    land(to, noted);
}

/* Leaves the CPU's head in register 3: 6 is what the program was called with, 7 the time, 8 the task. */
static void find_head(struct writer *to, const struct program_layout *layout, int map) {
    call(to, HELPER_CPU);
    copy(to, 9, 0);
    with_constant(to, BPF_AND, 9, ((int64_t)1 << layout->cpu_bits) - 1);
    load_map(to, 1, BPF_PSEUDO_MAP_VALUE, map);
    copy(to, 2, 9);
    with_constant(to, BPF_LSH, 2, 6);
    copy(to, 3, 1);
    put(to, BPF_ALU64 | BPF_ADD | BPF_X, 3, 2, 0, 0);
}

/* Leaves the place of the next note of this CPU in register 1. An interrupt may make another program note
 * something between any two instructions: the place is taken in one, or, where the kernel has none for that,
 * all that was to be noted is counted in one, by which it is known how many have lost their places. */
static void find_place(struct writer *to, const struct program_layout *layout) {
    int64_t heads = (int64_t)NOTES_HEAD_BYTES << layout->cpu_bits;
    with_constant(to, BPF_MOV, 4, 1);
    add_at_once(to, 3, layout->no_fetch ? MADE_AT : NOTES_AT, 4, !layout->no_fetch);
    if (layout->no_fetch) {
        load(to, BPF_DW, 4, 3, NOTES_AT);
        copy(to, 5, 4);
        with_constant(to, BPF_ADD, 5, 1);
        store(to, 3, NOTES_AT, 5);
    }
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

/* Which arguments of a raw tracepoint become values; -1: none does. Pointers to tasks are kept as numbers, to
 * be compared. The number of a call that ends is not among them, nor is the instruction that faults. */
static void store_arguments(struct writer *to, enum event_kind kind) {
    static const int ARGUMENTS[EVENT_KINDS][NOTE_VALUES] = {
        [EVENT_CALL_ENTER] = {1, -1, -1, -1, -1}, /* registers, number */
        [EVENT_CALL_EXIT] = {-1, 1, -1, -1, -1},  /* registers, result */
        [EVENT_NEW_TASK] = {0, 1, -1, -1, -1},    /* task, flags */
        [EVENT_WAKE] = {0, -1, -1, -1, -1},       /* task */
        [EVENT_WAKE_NEW] = {0, -1, -1, -1, -1},
        [EVENT_SWITCH] = {1, 3, 2, 0, -1}, /* who leaves, its state, who comes, whether it was pushed off */
        [EVENT_FAULT_USER] = {0, -1, 2, -1, -1}, /* address, registers, error code */
        [EVENT_FAULT_KERNEL] = {0, -1, 2, -1, -1},
        [EVENT_EXIT] = {-1, -1, -1, -1, -1},
    };
    int last = NOTE_VALUES - 1;
    while (last > 0 && ARGUMENTS[kind][last] < 0) {
        last--;
    }
    for (int i = 0; i <= last; i++) {
        if (ARGUMENTS[kind][i] < 0) {
            put(to, BPF_ST | BPF_DW | BPF_MEM, 1, 0, VALUES_AT + 8 * i, -1);
        } else {
            load(to, BPF_DW, 2, 6, 8 * ARGUMENTS[kind][i]);
            store(to, 1, VALUES_AT + 8 * i, 2);
        }
    }
}

/* Leaves the program unless the call that begins makes, runs, awaits or ends tasks (parts.py has the same
 * list). */
static void pass_main_calls(struct writer *to) {
    static const int CALLS[] = {
        SYS_futex,       SYS_clone3, SYS_clone, SYS_exit,       SYS_wait4,    SYS_execve,
#ifdef SYS_fork
        SYS_fork,        SYS_vfork,  SYS_poll,  SYS_epoll_wait,
#endif
#ifdef SYS_futex_waitv
        SYS_futex_waitv,
#endif
#ifdef SYS_futex_wait
        SYS_futex_wait,
#endif
        SYS_exit_group,  SYS_waitid, SYS_ppoll, SYS_read,       SYS_execveat, SYS_epoll_pwait,
    };
    enum { COUNT = sizeof CALLS / sizeof CALLS[0], NUMBER_AT = 8, LEAVING = 2 };
    load(to, BPF_DW, 2, 6, NUMBER_AT);
    for (int i = 0; i < COUNT; i++) {
        put(to, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, COUNT - 1 - i + LEAVING, CALLS[i]);
    }
    leave_with(to, 0);
}

/* A raw tracepoint does not tell which call ends. The next exit on a CPU that is noted is one after the entry
 * of a main call, or after a switch: who comes onto the CPU may have slept in one, or be new and come out of
 * the call that made it. */
static void expect_exit(struct writer *to, bool expected) {
    put(to, BPF_ST | BPF_DW | BPF_MEM, 3, 0, EXPECTED_AT, expected);
}

static void pass_expected_exits(struct writer *to) {
    enum { LEAVING = 2 };
    load(to, BPF_DW, 4, 3, EXPECTED_AT);
    put(to, BPF_JMP | BPF_JNE | BPF_K, 4, 0, LEAVING, 0);
    leave_with(to, 0);
    expect_exit(to, false);
}

static bool is_fault(enum event_kind kind) {
    return kind == EVENT_FAULT_USER || kind == EVENT_FAULT_KERNEL || kind == EVENT_MINOR_FAULT ||
           kind == EVENT_MAJOR_FAULT;
}

static void store_values(struct writer *to, const struct program_wish *wish) {
    if (wish->type == PROGRAM_RAW) {
        store_arguments(to, wish->kind);
    } else if (wish->type == PROGRAM_PERF) {
        load(to, BPF_DW, 2, 6, wish->address_at);
        store(to, 1, VALUES_AT, 2);
    } else if (wish->type == PROGRAM_UPROBE) {
        put(to, BPF_ST | BPF_DW | BPF_MEM, 1, 0, VALUES_AT, wish->mark);
    } else {
        store_fields(to, wish->format);
    }
}

/* Who leaves a CPU says who it was: between two switches it is no other, and need not be asked for. */
static bool asks_task(const struct program_wish *wish) {
    return wish->asks_task || wish->type != PROGRAM_RAW || wish->kind == EVENT_SWITCH;
}

void program_build(struct writer *to, const struct program_wish *wish, const struct program_layout *layout,
                   int map) {
    *to = (struct writer){.length = 0};
    bool enters = wish->kind == EVENT_CALL_ENTER;
    copy(to, 6, 1);
    if (wish->main_only && enters) {
        pass_main_calls(to);
    }
    if (wish->main_only && wish->kind == EVENT_CALL_EXIT) {
        find_head(to, layout, map);
        pass_expected_exits(to);
    }
    call(to, HELPER_TIME); /* what follows is not what is timed */
    copy(to, 7, 0);
    bool counts_run = layout->most_run > 0 && is_fault(wish->kind);
    if (counts_run || asks_task(wish)) {
        call(to, HELPER_TASK);
        copy(to, 8, 0);
    } else {
        with_constant(to, BPF_MOV, 8, EVENT_TASK_UNKNOWN);
    }
    find_head(to, layout, map);
    if (wish->main_only && (enters || wish->kind == EVENT_SWITCH)) {
        expect_exit(to, true);
    }
    if (counts_run) {
        leave_out_long_runs(to, layout, wish->type == PROGRAM_PERF ? wish->address_at : 0);
    }
    find_place(to, layout);
    store(to, 1, TIME_AT, 7);
    store(to, 1, TASK_AT, 8);
    put(to, BPF_ST | BPF_DW | BPF_MEM, 1, 0, KIND_AT,
        wish->kind | (wish->type == PROGRAM_RAW ? POINTERS : 0));
    store_values(to, wish);
    if (counts_run) {
        load(to, BPF_DW, 2, 3, RUN_AT);
        store(to, 1, VALUES_AT + 8 * RUN_VALUE, 2);
        land(to, to->to_end);
    }
    /* At a tracepoint's record 0 would keep it from everybody: perf elsewhere would miss it. */
    leave_with(to, wish->type == PROGRAM_TRACEPOINT);
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
                                  .kind = (uint16_t)(words[2] & (POINTERS - 1))};
    memcpy(event->values, words + VALUES_AT / 8, NOTE_VALUES * sizeof *words);
    event->values[EVENT_BY_POINTER] = (words[2] & POINTERS) != 0;
    if (layout->most_run > 0 && is_fault((enum event_kind)event->kind)) {
        event->kind =
            event->values[RUN_VALUE] > (int64_t)layout->most_run ? EVENT_FAULTS_LEFT_OUT : event->kind;
        event->values[RUN_VALUE] = 0;
    }
}

static uint64_t head_word(const unsigned char *memory, unsigned cpu, size_t at) {
    uint64_t word;
    memcpy(&word, memory + (size_t)cpu * NOTES_HEAD_BYTES + at, sizeof word);
    return word;
}

uint64_t program_left_out(const unsigned char *memory, unsigned cpu) {
    return head_word(memory, cpu, LEFT_OUT_AT);
}

uint64_t program_notes(const unsigned char *memory, unsigned cpu) {
    return head_word(memory, cpu, NOTES_AT);
}

uint64_t program_displaced(const unsigned char *memory, unsigned cpu) {
    uint64_t made = head_word(memory, cpu, MADE_AT);
    uint64_t notes = head_word(memory, cpu, NOTES_AT);
    return made > notes ? made - notes : 0;
}

void program_build_test(struct writer *to) {
    enum { WORD_AT = -8 };
    *to = (struct writer){.length = 0};
    with_constant(to, BPF_MOV, 1, 1);
    store(to, STACK, WORD_AT, 1);
    add_at_once(to, STACK, WORD_AT, 1, true);
    leave_with(to, 0);
}
