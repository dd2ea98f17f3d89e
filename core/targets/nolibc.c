/* The smallest program there is: no C library. What an exec costs before any library. Its entry is its own
 * first code, so that one reading of the clock is the stamp of both. */
#include "stamps.h"

#if defined(__x86_64__)
__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call clonometer_run\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    mov x0, sp\n"
        "    bl clonometer_run\n");
#else
#error "no entry for this architecture yet: x86-64 and arm64 are known"
#endif

__attribute__((noreturn)) void clonometer_run(const long *stack);

__attribute__((noreturn, used)) void clonometer_run(const long *stack) {
    static const char HELLO[] = "hello, world\n";
    const char *const *argv = (const char *const *)(stack + 1);
    const char *what = stack[0] < 2 ? 0 : argv[1];
    uint32_t cpu = 0;
    struct image_stamps stamps;
    stamps.entered = target_read_clock(what, &cpu);
    stamps.runs = stamps.entered;
    if (what != 0 && what[0] == 'm') {
        raw_call4(SYS_getcpu, (long)&cpu, 0, 0, 0);
    }
    stamps.cpu = cpu;
    raw_call4(SYS_write, 1, (long)HELLO, sizeof HELLO - 1, 0);
    stamps.ends = target_read_clock(what, &cpu);
    target_send(what, &stamps);
    for (;;) {
        raw_call4(SYS_exit_group, 0, 0, 0, 0);
    }
}
