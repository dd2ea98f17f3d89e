/* The calls that lead to a place are found, the same ones again without unwinding, and what cannot be unwound
 * says why. */
#include "census/sites.h"

#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "census/symbols.h"
#include "check.h"
#include "events/events.h"

/* The search for leaks of gcc 12 crashes where a library with memory of each thread was opened by dlopen. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

static struct sites *sites;
static struct stack_copy *copy;

static void copy_registers(const ucontext_t *context) {
#if defined(__x86_64__)
    static const int ORDER[REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                         REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                         REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (int i = 0; i < REGISTERS; i++) {
        copy->registers[i] = (uint64_t)context->uc_mcontext.gregs[ORDER[i]];
    }
#else
    memcpy(copy->registers, context->uc_mcontext.regs, sizeof context->uc_mcontext.regs);
    copy->registers[REGISTER_STACK] = context->uc_mcontext.sp;
    copy->registers[REGISTER_PC] = context->uc_mcontext.pc;
#endif
}

/* This place, as it is called. */
static __attribute__((noinline)) int32_t look(size_t bytes) {
    ucontext_t context;
    CHECK(getcontext(&context) == 0, "registers");
    copy_registers(&context);
    copy->abi = REGISTERS_WIDE;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): as the kernel reads it, which no sanitizer minds */
    struct iovec stack = {.iov_base = (void *)(uintptr_t)copy->registers[REGISTER_STACK], .iov_len = bytes};
    struct iovec local = {.iov_base = copy->memory, .iov_len = bytes};
    CHECK(process_vm_readv(getpid(), &local, 1, &stack, 1, 0) == (ssize_t)bytes, "the stack");
    copy->bytes = bytes;
    return sites_find(sites, getpid(), copy, 1);
}

static __attribute__((noinline)) int32_t look_from_here(size_t bytes) {
    int32_t site = look(bytes);
    __asm__ volatile("" ::: "memory");
    return site;
}

static bool names(int32_t site, const char *function) {
    for (uint32_t i = 0; i < sites->site[site].count; i++) {
        struct symbol symbol = symbol_of(&sites->unwinder, sites->site[site].frames[i], i > 0);
        if (symbol.function != NULL && strcmp(symbol.function, function) == 0) {
            return true;
        }
    }
    return false;
}

static void check_calls(void) {
    enum { BYTES = 4096, TIMES = 5 };
    int32_t first = 0;
    /* Unrolled, it would be several places. */
    for (volatile int i = 0; i < TIMES; i++) {
        int32_t site = look_from_here(BYTES);
        CHECK(site >= 0, "a site: %d", site);
        first = i == 0 ? site : first;
        CHECK(site == first, "the same place is the same site");
    }
    /* A register that the loop sets in its first round, and that is saved here, makes the next one another
     * stack. */
    CHECK(sites->unwound <= 2 && sites->unwound + sites->recognised == TIMES, "unwound %d times",
          (int)sites->unwound);
    CHECK(sites->site[first].times == TIMES, "and counted");
    int32_t other = look(BYTES);
    CHECK(other >= 0 && other != first, "another place is another site");
    CHECK(names(first, "look_from_here") && names(first, "main"), "by name");
    CHECK(!names(other, "look_from_here"), "which was not called from there");
    CHECK(sites->site[first].end == UNWIND_COMPLETE, "whole: %d", (int)sites->site[first].end);
    int32_t cut = look_from_here(64);
    CHECK(cut >= 0 && cut != first && sites->site[cut].end == UNWIND_BEYOND_COPY,
          "its end is not in the copy");
}

static void check_what_is_missing(void) {
    CHECK(sites_find(sites, 1 << 21, copy, 1) == SITE_NO_SPACE, "of a process that is not there");
    copy->abi = REGISTERS_NARROW;
    CHECK(sites_find(sites, getpid(), copy, 1) == SITE_NARROW, "of 32 bits");
    copy->abi = REGISTERS_NONE;
    CHECK(sites_find(sites, getpid(), copy, 1) == SITE_NO_STACK, "of the kernel");
    CHECK(sites->missing[-SITE_NARROW] == 1 && sites->missing[-SITE_NO_SPACE] == 1, "counted");
    copy->abi = REGISTERS_WIDE;
    sites->in_second = SITES_MOST_A_SECOND;
    copy->registers[REGISTER_PC] = (uint64_t)(uintptr_t)&check_what_is_missing;
    CHECK(sites_find(sites, getpid(), copy, 1) == SITE_TOO_MANY, "more than are unwound in a second");
    CHECK(sites_find(sites, getpid(), copy, 2000000000) >= 0, "in the next one they are");
}

int main(void) {
    enum { ROOM = 4096 };
    sites = sites_new();
    copy = calloc(1, sizeof *copy + ROOM);
    CHECK(sites != NULL && copy != NULL, "memory");
    if (sites->without[0] != '\0') {
        printf("%s\n", sites->without);
        return TEST_NOT_POSSIBLE;
    }
    check_calls();
    check_what_is_missing();
    sites_free(sites);
    free(copy);
    return 0;
}
