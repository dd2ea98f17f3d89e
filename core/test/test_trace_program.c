/* The kernel's programs: run here by a small interpreter of their instructions, they leave the notes that are
 * read back, each CPU in its own part, and the oldest overwritten. */
#include <sys/syscall.h>

#include "check.h"
#include "events/assemble.h"
#include "tracer/program.h"

enum { MEMORY = 2 << 20, MAP = 5 };

static const struct program_layout LAYOUT = {.cpu_bits = 1, .note_bits = 2};
static const struct program_layout *layout_now = &LAYOUT;
static unsigned char memory[MEMORY];
static uint64_t now_ns;
static uint64_t cpu_now;
static uint64_t result;

static uint64_t alu(unsigned operation, uint64_t a, uint64_t b) {
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_AND:
        return a & b;
    case BPF_LSH:
        return a << b;
    case BPF_RSH:
        return a >> b;
    case BPF_ARSH:
        return (uint64_t)((int64_t)a >> b);
    case BPF_MOV:
        return b;
    default:
        CHECK(0, "operation %u", operation);
    }
    return 0;
}

static uint64_t helper(int number) {
    CHECK(number == BPF_FUNC_ktime_get_ns || number == BPF_FUNC_get_smp_processor_id ||
              number == BPF_FUNC_get_current_pid_tgid,
          "helper %d", number);
    return number == BPF_FUNC_ktime_get_ns           ? now_ns
           : number == BPF_FUNC_get_smp_processor_id ? cpu_now
                                                     : (UINT64_C(70) << 32) | 71;
}

static size_t width(unsigned code) {
    return BPF_SIZE(code) == BPF_DW ? 8 : BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

static void build(struct writer *program, enum event_kind kind, enum program_type type, bool main_only) {
    const struct program_wish wish = {.kind = kind, .type = type, .main_only = main_only, .address_at = 24};
    program_build(program, &wish, layout_now, MAP);
    CHECK(program->error == 0, "%zu instructions", program->length);
}

/* By how much a jump goes on, or -1 where the instruction is none. */
static int jumped(const struct bpf_insn *instruction, const uint64_t *r) {
    uint64_t operand =
        BPF_SRC(instruction->code) == BPF_X ? r[instruction->src_reg] : (uint64_t)(int64_t)instruction->imm;
    uint64_t value = r[instruction->dst_reg];
    switch (BPF_CLASS(instruction->code) == BPF_JMP ? BPF_OP(instruction->code) : BPF_CALL) {
    case BPF_JA:
        return instruction->off;
    case BPF_JEQ:
        return value == operand ? instruction->off : 0;
    case BPF_JNE:
        return value != operand ? instruction->off : 0;
    case BPF_JGT:
        return value > operand ? instruction->off : 0;
    case BPF_JLE:
        return value <= operand ? instruction->off : 0;
    default:
        return -1;
    }
}

/* What an interrupt runs before which instruction of the program that is at work; NULL: there is none. */
static const struct writer *interrupts;
static size_t interrupted_at;

static void run(const struct writer *program, const void *context) {
    uint64_t r[11] = {0};
    r[1] = (uint64_t)(uintptr_t)context;
    for (size_t i = 0; i < program->length; i++) {
        const struct bpf_insn *instruction = &program->program[i];
        if (interrupts != NULL && i == interrupted_at) {
            const struct writer *inner = interrupts;
            interrupts = NULL;
            run(inner, context);
        }
        unsigned class = BPF_CLASS(instruction->code);
        int step = jumped(instruction, r);
        if (step >= 0) {
            i += (size_t)step;
            continue;
        }
        if (class == BPF_ALU64) {
            uint64_t operand = BPF_SRC(instruction->code) == BPF_X ? r[instruction->src_reg]
                                                                   : (uint64_t)(int64_t)instruction->imm;
            r[instruction->dst_reg] = alu(BPF_OP(instruction->code), r[instruction->dst_reg], operand);
        } else if (class == BPF_LD) {
            CHECK(instruction->src_reg == BPF_PSEUDO_MAP_VALUE && instruction->imm == MAP, "the map");
            r[instruction->dst_reg] = (uint64_t)(uintptr_t)memory;
            i++;
        } else if (class == BPF_LDX) {
            uint64_t value = 0;
            memcpy(&value, (const char *)(uintptr_t)r[instruction->src_reg] + instruction->off,
                   width(instruction->code));
            r[instruction->dst_reg] = value;
        } else if (instruction->code == (BPF_STX | BPF_DW | BPF_XADD)) {
            uint64_t *at = (void *)((char *)(uintptr_t)r[instruction->dst_reg] + instruction->off);
            uint64_t former = *at;
            *at += r[instruction->src_reg];
            r[instruction->src_reg] = instruction->imm != 0 ? former : r[instruction->src_reg];
        } else if (class == BPF_STX || class == BPF_ST) {
            uint64_t value = class == BPF_STX ? r[instruction->src_reg] : (uint64_t)(int64_t)instruction->imm;
            unsigned char *at = (unsigned char *)(uintptr_t)r[instruction->dst_reg] + instruction->off;
            CHECK(at >= memory && at + width(instruction->code) <= memory + program_memory_bytes(layout_now),
                  "a store outside");
            memcpy(at, &value, width(instruction->code));
        } else if (instruction->code == (BPF_JMP | BPF_EXIT)) {
            result = r[0];
            return;
        } else {
            CHECK(instruction->code == (BPF_JMP | BPF_CALL), "code %x", instruction->code);
            r[0] = helper(instruction->imm);
        }
    }
    CHECK(0, "no end");
}

/* Whatever an interrupt makes another program note, and whenever, both notes are there; or, of a kernel that
 * takes no place in one instruction, it is known that they are not. */
static void check_interrupts(bool no_fetch) {
    static struct program_layout layout = {.cpu_bits = 1, .note_bits = 2};
    struct writer outer;
    struct writer inner;
    uint64_t arguments[2] = {0, 7};
    uint64_t displaced = 0;
    layout.no_fetch = no_fetch;
    cpu_now = 0;
    layout_now = &layout;
    build(&outer, EVENT_CALL_ENTER, PROGRAM_RAW, false);
    build(&inner, EVENT_WAKE, PROGRAM_RAW, false);
    for (size_t at = 0; at < outer.length; at++) {
        struct trace_event event;
        bool seen[EVENT_KINDS] = {false};
        memset(memory, 0, sizeof memory);
        interrupts = &inner;
        interrupted_at = at;
        run(&outer, arguments);
        if (interrupts != NULL) {
            interrupts = NULL; /* the second half of a wide instruction */
            continue;
        }
        displaced += program_displaced(memory, 0);
        CHECK(program_notes(memory, 0) + program_displaced(memory, 0) == 2, "before instruction %zu", at);
        for (uint64_t i = 0; i < program_notes(memory, 0); i++) {
            program_note(memory, &layout, 0, i, &event);
            seen[event.kind] = true;
        }
        CHECK(no_fetch || (seen[EVENT_CALL_ENTER] && seen[EVENT_WAKE]), "before instruction %zu", at);
    }
    CHECK((displaced > 0) == no_fetch, "%llu have lost their place", (unsigned long long)displaced);
    layout_now = &LAYOUT;
}

static void check_fields(void) {
    static const struct event_format FORMAT = {
        .fields = 2, .field = {{.at = 8, .bytes = 4, .is_signed = true}, {.at = 16, .bytes = 16}}};
    struct writer program;
    struct trace_event event;
    unsigned char record[64] = {0};
    int32_t pid = -3;
    uint64_t words[] = {11, 12};
    memcpy(record + 8, &pid, sizeof pid);
    memcpy(record + 16, words, sizeof words);
    const struct program_wish wish = {.kind = EVENT_WAKE, .type = PROGRAM_TRACEPOINT, .format = &FORMAT};
    program_build(&program, &wish, &LAYOUT, MAP);
    now_ns = 900;
    cpu_now = 1;
    run(&program, record);
    CHECK(result == 1, "others may have the record as well");
    CHECK(program_notes(memory, 0) == 0 && program_notes(memory, 1) == 1, "whose note it is");
    program_note(memory, &LAYOUT, 1, 0, &event);
    CHECK(event.time_ns == 900 && event.task == 71 && event.cpu == 1 && event.kind == EVENT_WAKE, "its head");
    CHECK(event.values[0] == -3 && event.values[1] == 11 && event.values[2] == 12, "its fields");
}

static void check_calls_and_wrap(void) {
    struct writer program;
    struct trace_event event;
    uint64_t arguments[2] = {0, 0};
    memset(memory, 0, sizeof memory);
    cpu_now = 0;
    for (uint64_t i = 0; i < 6; i++) {
        enum event_kind kind = i % 2 == 0 ? EVENT_CALL_ENTER : EVENT_CALL_EXIT;
        build(&program, kind, PROGRAM_RAW, false);
        now_ns = i;
        arguments[1] = 50 + i;
        run(&program, arguments);
    }
    CHECK(program_notes(memory, 0) == 6, "counted");
    program_note(memory, &LAYOUT, 0, 4, &event);
    CHECK(event.time_ns == 4 && event.values[0] == 54, "an entry, over the oldest");
    program_note(memory, &LAYOUT, 0, 3, &event);
    CHECK(event.time_ns == 3 && event.values[0] == -1 && event.values[1] == 53, "an exit has a result");
}

static void check_fault(void) {
    struct writer program;
    struct trace_event event;
    uint64_t arguments[3] = {0x7fff0010, 0x1234, 7};
    memset(memory, 0, sizeof memory);
    build(&program, EVENT_FAULT_USER, PROGRAM_RAW, false);
    run(&program, arguments);
    program_note(memory, &LAYOUT, 0, 0, &event);
    CHECK(event.task == EVENT_TASK_UNKNOWN, "a switch will tell");
    CHECK(event.values[0] == 0x7fff0010 && event.values[2] == 7, "where and why, without the pointer");
}

static void check_address(void) {
    struct writer program;
    struct trace_event event;
    uint64_t context[4] = {0, 0, 0, 0x7000};
    memset(memory, 0, sizeof memory);
    build(&program, EVENT_MINOR_FAULT, PROGRAM_PERF, false);
    run(&program, context);
    program_note(memory, &LAYOUT, 0, 0, &event);
    CHECK(event.kind == EVENT_MINOR_FAULT && event.values[0] == 0x7000, "where it was");
}

/* A place in user code is known by its number only; its own record is nobody's. */
static void check_mark(void) {
    struct writer program;
    struct trace_event event;
    uint64_t registers[4] = {0};
    const struct program_wish wish = {.kind = EVENT_MARK, .type = PROGRAM_UPROBE, .mark = 2};
    memset(memory, 0, sizeof memory);
    program_build(&program, &wish, &LAYOUT, MAP);
    run(&program, registers);
    program_note(memory, &LAYOUT, 0, 0, &event);
    CHECK(event.kind == EVENT_MARK && event.values[0] == 2 && event.task == 71, "which place, and whose");
    CHECK(result == 0, "no record");
}

/* Without switches each note must say whose it is. */
static void check_asked_task(void) {
    struct writer program;
    struct trace_event event;
    uint64_t arguments[2] = {0, 39};
    const struct program_wish wish = {.kind = EVENT_CALL_ENTER, .type = PROGRAM_RAW, .asks_task = true};
    memset(memory, 0, sizeof memory);
    program_build(&program, &wish, &LAYOUT, MAP);
    run(&program, arguments);
    program_note(memory, &LAYOUT, 0, 0, &event);
    CHECK(event.task == 71 && event.values[0] == 39, "of task %d", event.task);
}

/* A raw tracepoint gives pointers, which stay what they are until somebody names them. */
static void check_switch(void) {
    struct writer program;
    struct trace_event event;
    uint64_t arguments[4] = {1, 0xffff1000, 0xffff2000, 2};
    memset(memory, 0, sizeof memory);
    build(&program, EVENT_SWITCH, PROGRAM_RAW, true);
    run(&program, arguments);
    program_note(memory, &LAYOUT, 0, 0, &event);
    CHECK(event.kind == EVENT_SWITCH && event.task == 71 && event.values[EVENT_BY_POINTER] == 1,
          "by pointer");
    CHECK(event.values[0] == 0xffff1000 && event.values[1] == 2 && event.values[2] == 0xffff2000 &&
              event.values[3] == 1,
          "who leaves, its state, who comes, whether it was pushed off");
}

static uint64_t notes_after(enum event_kind kind, uint64_t second) {
    struct writer program;
    uint64_t arguments[4] = {0, second, 0, 0};
    build(&program, kind, PROGRAM_RAW, true);
    run(&program, arguments);
    return program_notes(memory, 0);
}

/* Of the calls only the main ones: their exits are known by their entries, and by switches. */
static void check_main_calls(void) {
    memset(memory, 0, sizeof memory);
    CHECK(notes_after(EVENT_CALL_ENTER, SYS_getppid) == 0 && notes_after(EVENT_CALL_EXIT, 7) == 0,
          "another call");
    CHECK(notes_after(EVENT_CALL_ENTER, SYS_wait4) == 1 && notes_after(EVENT_CALL_EXIT, 7) == 2,
          "a main call");
    CHECK(notes_after(EVENT_CALL_EXIT, 7) == 2, "its exit is one");
    CHECK(notes_after(EVENT_CALL_ENTER, SYS_execveat) == 3, "the last of them");
    /* Who comes may be in a main call, or new. */
    CHECK(notes_after(EVENT_SWITCH, 0) == 4 && notes_after(EVENT_CALL_EXIT, 0) == 5,
          "an exit after a switch");
    CHECK(notes_after(EVENT_CALL_EXIT, 0) == 5, "and no other");
    cpu_now = 1;
    CHECK(notes_after(EVENT_CALL_EXIT, 0) == 5, "nor on another CPU");
    cpu_now = 0;
}

enum { RUN = 5, PAGE = 4096, FAR = 1 << 20, ELSEWHERE = 5 << 20 };

static void fault(uint64_t address) {
    struct writer program;
    uint64_t arguments[4] = {address, 0, 7, address};
    now_ns++;
    build(&program, EVENT_FAULT_USER, PROGRAM_RAW, false);
    run(&program, arguments);
    now_ns++;
    build(&program, EVENT_MINOR_FAULT, PROGRAM_PERF, false);
    run(&program, arguments);
}

/* Faults page after page, up or down, are noted until there are too many; elsewhere they are again. */
static void check_runs(void) {
    static const struct program_layout SHORT = {.cpu_bits = 1, .note_bits = 5, .most_run = RUN};
    struct trace_event event;
    memset(memory, 0, sizeof memory);
    cpu_now = 1;
    layout_now = &SHORT;
    for (uint64_t page = 0; page < 10; page++) {
        fault(FAR - page * PAGE);
    }
    CHECK(program_notes(memory, 1) == RUN + 1 && program_left_out(memory, 1) == 20 - RUN - 1,
          "the first ones");
    program_note(memory, &SHORT, 1, RUN - 1, &event);
    CHECK(event.kind == EVENT_FAULT_USER && event.values[0] == FAR - (int64_t)2 * PAGE &&
              event.values[3] == 0,
          "a fault");
    program_note(memory, &SHORT, 1, RUN, &event);
    CHECK(event.kind == EVENT_FAULTS_LEFT_OUT, "here it says so");
    fault(ELSEWHERE);
    CHECK(program_notes(memory, 1) == RUN + 3, "another place is noted");
    program_note(memory, &SHORT, 1, RUN + 2, &event);
    CHECK(event.kind == EVENT_MINOR_FAULT && event.values[0] == ELSEWHERE, "from its beginning to its end");
    CHECK(program_left_out(memory, 0) == 0, "of this CPU alone");
    layout_now = &LAYOUT;
}

int main(void) {
    check_fields();
    check_calls_and_wrap();
    check_fault();
    check_address();
    check_asked_task();
    check_mark();
    check_switch();
    check_main_calls();
    check_runs();
    check_interrupts(false);
    check_interrupts(true);
    return 0;
}
