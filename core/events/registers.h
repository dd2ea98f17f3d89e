/* The registers of user code that an unwinder begins with, numbered as DWARF numbers them. Sources: the
 * processors' psABI documents; asm/perf_regs.h of the kernel. */
#ifndef CLONOMETER_EVENTS_REGISTERS_H
#define CLONOMETER_EVENTS_REGISTERS_H

#include <stdint.h>

#if defined(__x86_64__)
enum { REGISTERS = 17, REGISTER_FRAME = 6, REGISTER_STACK = 7, REGISTER_PC = 16 };
/* AX to IP and R8 to R15: flags and segments lie between. */
#define REGISTERS_MASK UINT64_C(0xff01ff)
/* Where each is that perf gives, in the order of its bits. */
static const uint8_t REGISTERS_OF_PERF[REGISTERS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                     8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
enum { REGISTERS = 33, REGISTER_FRAME = 29, REGISTER_STACK = 31, REGISTER_PC = 32 };
#define REGISTERS_MASK UINT64_C(0x1ffffffff)
static const uint8_t REGISTERS_OF_PERF[REGISTERS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#else
#error "registers of this processor are not known here"
#endif

#endif
