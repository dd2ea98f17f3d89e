/* Instructions of programs that the kernel runs (bpf(2)), one after the other. */
#ifndef CLONOMETER_EVENTS_ASSEMBLE_H
#define CLONOMETER_EVENTS_ASSEMBLE_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel does for a program; of what has no licence of the kernel's. */
enum {
    HELPER_LOOK_UP = 1,
    HELPER_UPDATE = 2,
    HELPER_DELETE = 3,
    HELPER_TIME = 5,
    HELPER_CPU = 8,
    HELPER_TASK = 14,
    HELPER_NOTE = 130,
};
enum { WIDE_CONSTANT = BPF_DW /* of the class BPF_LD, which is 0 */, STACK = 10 };

enum { WRITER_MOST_INSTRUCTIONS = 128 };

struct writer {
    struct bpf_insn program[WRITER_MOST_INSTRUCTIONS];
    size_t length;
    size_t to_end; /* the jump that leaves out what follows; 0: there is none */
    int error;     /* -E2BIG: it has more instructions; -ERANGE: a place or a number is beyond what one holds.
                      It is not loaded then */
};

static inline void put(struct writer *to, unsigned code, unsigned target, unsigned source, int offset,
                       int64_t constant) {
    if (to->length == WRITER_MOST_INSTRUCTIONS) {
        to->error = -E2BIG;
    } else if (offset != (int16_t)offset || constant != (int32_t)constant) {
        to->error = -ERANGE;
    }
    if (to->error == 0) {
        to->program[to->length++] = (struct bpf_insn){.code = (uint8_t)code,
                                                      .dst_reg = (uint8_t)(target & 15U),
                                                      .src_reg = (uint8_t)(source & 15U),
                                                      .off = (int16_t)offset,
                                                      .imm = (int32_t)constant};
    }
}

static inline void copy(struct writer *to, unsigned target, unsigned source) {
    put(to, BPF_ALU64 | BPF_MOV | BPF_X, target, source, 0, 0);
}

static inline void with_constant(struct writer *to, unsigned operation, unsigned target, int64_t constant) {
    put(to, BPF_ALU64 | operation | BPF_K, target, 0, 0, constant);
}

static inline void call(struct writer *to, int helper) {
    put(to, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void load(struct writer *to, unsigned size, unsigned target, unsigned source, int offset) {
    put(to, BPF_LDX | size | BPF_MEM, target, source, offset, 0);
}

static inline void store(struct writer *to, unsigned target, int offset, unsigned source) {
    put(to, BPF_STX | BPF_DW | BPF_MEM, target, source, offset, 0);
}

/* Adds a register to a word in one step; `fetch` leaves there what the word was (Linux 5.12). */
static inline void add_at_once(struct writer *to, unsigned target, int offset, unsigned source, bool fetch) {
    enum { FETCH = 1 /* BPF_FETCH, which older headers lack, as they call BPF_ATOMIC BPF_XADD */ };
    put(to, BPF_STX | BPF_DW | BPF_XADD, target, source, offset, BPF_ADD | (fetch ? FETCH : 0));
}

static inline size_t jump(struct writer *to, unsigned condition, unsigned target, unsigned source) {
    size_t from = to->length;
    put(to, BPF_JMP | condition | BPF_X, target, source, 0, 0);
    return from;
}

static inline size_t jump_constant(struct writer *to, unsigned condition, unsigned target, int64_t constant) {
    size_t from = to->length;
    put(to, BPF_JMP | condition | BPF_K, target, 0, 0, constant);
    return from;
}

/* What jumps from there comes here. */
static inline void land(struct writer *to, size_t from) {
    if (to->error == 0 && from < WRITER_MOST_INSTRUCTIONS) {
        to->program[from].off = (int16_t)(to->length - from - 1);
    }
}

/* A map, or where its value is: BPF_PSEUDO_MAP_FD or BPF_PSEUDO_MAP_VALUE. */
static inline void load_map(struct writer *to, unsigned target, unsigned which, int map) {
    put(to, WIDE_CONSTANT, target, which, 0, map);
    put(to, 0, 0, 0, 0, 0);
}

/* A place on the stack. */
static inline void load_place(struct writer *to, unsigned target, int offset) {
    copy(to, target, STACK);
    with_constant(to, BPF_ADD, target, offset);
}

static inline void leave_with(struct writer *to, int64_t result) {
    with_constant(to, BPF_MOV, 0, result);
    put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

#endif
