/* The first instructions of a target with a C library, stamped before that has set itself up, and main's two
 * stamps. The entry uses nothing of the library: no errno, no stack protector, no relocated data of other
 * objects. It goes on to the program's usual entry.
 */
#include "stamps.h"

#if defined(__x86_64__)

/* rdx holds the dynamic linker's exit function and must reach _start unchanged. */
__asm__(".globl clonometer_entry\n"
        ".type clonometer_entry, @function\n"
        "clonometer_entry:\n"
        "    mov %rsp, %rdi\n"
        "    push %rdx\n"
        "    mov %rsp, %rbx\n"
        "    and $-16, %rsp\n"
        "    call clonometer_stamp_entry\n"
        "    mov %rbx, %rsp\n"
        "    pop %rdx\n"
        "    xor %ebx, %ebx\n"
        "    jmp _start\n");

#elif defined(__aarch64__)

/* x0 holds the dynamic linker's exit function and must reach _start unchanged. */
__asm__(".globl clonometer_entry\n"
        ".type clonometer_entry, %function\n"
        "clonometer_entry:\n"
        "    mov x19, x0\n"
        "    mov x0, sp\n"
        "    bl clonometer_stamp_entry\n"
        "    mov x0, x19\n"
        "    b _start\n");

#else
#error "no entry for this architecture yet: x86-64 and arm64 are known"
#endif

/* Ours alone, and so reached without relocation. */
static struct image_stamps stamps;

__attribute__((used)) void clonometer_stamp_entry(const long *stack) {
    long argc = stack[0];
    const char *const *argv = (const char *const *)(stack + 1);
    const char *what = argc < 2 ? 0 : argv[1];
    uint32_t cpu = 0;
    uint64_t now = target_read_clock(what, &cpu);
    if (now == 0) {
        return;
    }
    if (what[0] == 'm') {
        raw_call4(SYS_getcpu, (long)&cpu, 0, 0, 0);
    }
    stamps.entered = now;
    stamps.cpu = cpu;
}

void clonometer_main_begins(const char *what) {
    uint32_t cpu;
    stamps.runs = target_read_clock(what, &cpu);
}

void clonometer_main_ends(const char *what) {
    uint32_t cpu;
    stamps.ends = target_read_clock(what, &cpu);
    target_send(what, &stamps);
}
