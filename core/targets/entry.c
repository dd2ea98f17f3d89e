/* The first instructions of a target: stamp the clock, tell the probe, go on to the program's usual entry.
 *
 * It runs before the C library has set itself up, so it uses nothing of it: no errno, no stack protector, no
 * relocated data of other objects. What to do stands in argv[1]: the clock ('t': TSC, 'm': CLOCK_MONOTONIC)
 * and the descriptor of the probe's stamp pages, a colon, and where in them to write. The clock is read
 * first; the write comes after.
 */
#include <stdint.h>
#include <sys/syscall.h>

#include "entry.h"
#include "sys/raw.h"

#if defined(__x86_64__)

static uint64_t read_tsc(uint32_t *cpu) {
    uint32_t low;
    uint32_t high;
    uint32_t aux;
    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux)::"memory");
    *cpu = aux & 0xfffU;
    return ((uint64_t)high << 32) | low;
}

/* rdx holds the dynamic linker's exit function and must reach _start unchanged. */
__asm__(".globl clonometer_entry\n"
        ".type clonometer_entry, @function\n"
        "clonometer_entry:\n"
        "    mov %rsp, %rdi\n"
        "    push %rdx\n"
        "    mov %rsp, %rbx\n"
        "    and $-16, %rsp\n"
        "    call clonometer_stamp\n"
        "    mov %rbx, %rsp\n"
        "    pop %rdx\n"
        "    xor %ebx, %ebx\n"
        "    jmp _start\n");

#elif defined(__aarch64__)

static uint64_t read_tsc(uint32_t *cpu) {
    *cpu = 0;
    return 0;
}

/* x0 holds the dynamic linker's exit function and must reach _start unchanged. */
__asm__(".globl clonometer_entry\n"
        ".type clonometer_entry, %function\n"
        "clonometer_entry:\n"
        "    mov x19, x0\n"
        "    mov x0, sp\n"
        "    bl clonometer_stamp\n"
        "    mov x0, x19\n"
        "    b _start\n");

#else
#error "no entry for this architecture yet: x86-64 and arm64 are known"
#endif

struct kernel_time {
    int64_t seconds;
    int64_t nanoseconds;
};

/* The number at `*at`, which is moved past it; -1 where there is none. */
static long read_number(const char **at) {
    long number = **at >= '0' && **at <= '9' ? 0 : -1;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number * 10 + (**at - '0');
    }
    return number;
}

__attribute__((used)) void clonometer_stamp(const long *stack) {
    struct entry_stamp stamp = {0, 0};
    long argc = stack[0];
    const char *const *argv = (const char *const *)(stack + 1);
    if (argc < 2 || argv[1] == 0 || (argv[1][0] != 't' && argv[1][0] != 'm')) {
        return;
    }
    if (argv[1][0] == 't') {
        stamp.ticks = read_tsc(&stamp.cpu);
    } else {
        struct kernel_time now = {0, 0};
        raw_call4(SYS_clock_gettime, 1, (long)&now, 0, 0);
        stamp.ticks = (uint64_t)now.seconds * 1000000000U + (uint64_t)now.nanoseconds;
        raw_call4(SYS_getcpu, (long)&stamp.cpu, 0, 0, 0);
    }
    const char *at = argv[1] + 1;
    long fd = read_number(&at);
    if (fd < 0 || *at++ != ':') {
        return;
    }
    long offset = read_number(&at);
    if (offset >= 0) {
        raw_call4(SYS_pwrite64, fd, (long)&stamp, ENTRY_STAMP_BYTES, offset + ENTRY_OFFSET);
    }
}
