/* A program's start, one instruction after the other: what it executes, and how often CPUID. */
#ifndef CLONOMETER_STEPS_H
#define CLONOMETER_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From exec to the entry of its file (ld.so), to main (the C library's start), to main's return, to the end.
 */
enum steps_phase { STEPS_LOADER, STEPS_START, STEPS_MAIN, STEPS_EXIT, STEPS_PHASES };

struct steps {
    int64_t instructions[STEPS_PHASES];
    int64_t cpuid[STEPS_PHASES];
    bool found_main;         /* else all from the entry on counts as the start */
    int64_t main_from_entry; /* bytes; below zero where main stands before it */
    bool ended;              /* else it was ended at a limit */
};

/* What is known of one program while it is stepped: pure, but for what it is told. */
struct steps_watch {
    struct steps steps;
    enum steps_phase phase;
    uint64_t entry;         /* 0: not known */
    uint64_t entry_stack;   /* its stack pointer there */
    uint64_t candidates[8]; /* first arguments of calls that _start has made: main is one of them */
    unsigned next_candidate;
    uint64_t main_stack;     /* the stack pointer at main's first instruction */
    uint64_t return_address; /* of main; 0: not known */
};

/* Takes one instruction that is about to be executed: where, its first two bytes (little-endian), the stack
 * pointer and the first argument's register. True where main begins: the caller then stores the word at the
 * stack pointer as `return_address`. */
bool steps_take(struct steps_watch *watch, uint64_t at, uint16_t opcode, uint64_t stack, uint64_t argument);

/* Steps `pid`, a child that has asked to be traced and is about to exec, until it ends, or until
 * `most_instructions` or `most_ns` have passed, at which it is killed. It is reaped. 0, or -errno: -ECHILD
 * where it has not come to exec. */
int steps_follow(pid_t pid, int64_t most_instructions, int64_t most_ns, struct steps_watch *watch);

#endif
