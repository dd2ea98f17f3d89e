#include "census/stopped.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "events/events.h"

/* ptrace takes numbers and addresses of the other process where it says pointers.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

enum { PAGE = 4096, MOST_PIECES = SITES_STACK_BYTES / PAGE + 1 };

static bool read_registers(pid_t task, struct stack_copy *copy) {
    struct user_regs_struct registers;
    struct iovec vector = {.iov_base = &registers, .iov_len = sizeof registers};
    if (ptrace(PTRACE_GETREGSET, task, (void *)NT_PRSTATUS, &vector) != 0) {
        return false;
    }
    /* The kernel gives a 32-bit program's registers in a shorter structure. */
    copy->abi = vector.iov_len == sizeof registers ? REGISTERS_WIDE : REGISTERS_NARROW;
#if defined(__x86_64__)
    const uint64_t in_order[REGISTERS] = {
        registers.rax, registers.rdx, registers.rcx, registers.rbx, registers.rsi, registers.rdi,
        registers.rbp, registers.rsp, registers.r8,  registers.r9,  registers.r10, registers.r11,
        registers.r12, registers.r13, registers.r14, registers.r15, registers.rip};
    memcpy(copy->registers, in_order, sizeof in_order);
#elif defined(__aarch64__)
    memcpy(copy->registers, registers.regs, sizeof registers.regs);
    copy->registers[REGISTER_STACK] = registers.sp;
    copy->registers[REGISTER_PC] = registers.pc;
#endif
    return true;
}

/* A page at a time: what can be read of a stack that ends within is told by whole pieces. */
static size_t read_stack(pid_t task, uint64_t from, unsigned char *memory) {
    struct iovec pieces[MOST_PIECES];
    struct iovec local = {.iov_base = memory, .iov_len = SITES_STACK_BYTES};
    size_t done = 0;
    size_t count = 0;
    while (done < SITES_STACK_BYTES && count < MOST_PIECES) {
        size_t bytes = PAGE - (size_t)((from + done) % PAGE);
        bytes = bytes < SITES_STACK_BYTES - done ? bytes : SITES_STACK_BYTES - done;
        pieces[count++] = (struct iovec){.iov_base = (void *)(uintptr_t)(from + done), .iov_len = bytes};
        done += bytes;
    }
    ssize_t got = process_vm_readv(task, &local, 1, pieces, count, 0);
    return got > 0 ? (size_t)got : 0;
}

int32_t stopped_site(struct sites *sites, pid_t task, uint64_t now_ns) {
    struct stack_copy *copy = calloc(1, sizeof *copy + SITES_STACK_BYTES);
    if (copy == NULL || !read_registers(task, copy)) {
        free(copy);
        sites->missing[-SITE_NO_STACK]++;
        return SITE_NO_STACK;
    }
    copy->bytes = read_stack(task, copy->registers[REGISTER_STACK], copy->memory);
    int32_t site = sites_find(sites, task, copy, now_ns);
    free(copy);
    return site;
}
/* NOLINTEND(performance-no-int-to-ptr) */
