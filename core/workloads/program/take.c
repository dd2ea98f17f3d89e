/* The pure half of single-stepping: which part of a program's life an instruction belongs to. */
#include "workloads/program/steps.h"

enum { OPCODE_CPUID = 0xa20f, NEAR_START_BYTES = 64, CANDIDATES = 8 };

/* _start hands main to the C library as the first argument, from a frame that is next to the entry's stack
 * pointer (System V ABI; __libc_start_main of glibc and musl). That word is only called main if it is
 * reached.
 */
static bool is_main(struct steps_watch *watch, uint64_t at, uint64_t stack, uint64_t argument) {
    for (unsigned i = 0; i < CANDIDATES; i++) {
        if (watch->candidates[i] == at) {
            return true;
        }
    }
    unsigned last = (watch->next_candidate + CANDIDATES - 1) % CANDIDATES;
    if (stack + NEAR_START_BYTES >= watch->entry_stack && argument != 0 &&
        argument != watch->candidates[last]) {
        watch->candidates[watch->next_candidate] = argument;
        watch->next_candidate = (watch->next_candidate + 1) % CANDIDATES;
    }
    return false;
}

bool steps_take(struct steps_watch *watch, uint64_t at, uint16_t opcode, uint64_t stack, uint64_t argument) {
    bool begins = false;
    if (watch->phase == STEPS_LOADER && at == watch->entry) {
        watch->phase = STEPS_START;
        watch->entry_stack = stack;
    } else if (watch->phase == STEPS_START && is_main(watch, at, stack, argument)) {
        watch->phase = STEPS_MAIN;
        watch->steps.found_main = true;
        watch->steps.main_from_entry = (int64_t)(at - watch->entry);
        watch->main_stack = stack;
        begins = true;
    } else if (watch->phase == STEPS_MAIN && at == watch->return_address && stack > watch->main_stack) {
        watch->phase = STEPS_EXIT;
    }
    watch->steps.instructions[watch->phase]++;
    watch->steps.cpuid[watch->phase] += opcode == OPCODE_CPUID;
    return begins;
}
