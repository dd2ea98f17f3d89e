#include "census/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one place of all stacks; the last bits of a stack pointer are kept, by which code may align it. What
 * lies up to a few megabytes above it is taken for the stack as well, of which only the end was copied. */
static const uint64_t STACK_PLACE = UINT64_C(1) << 55;
static const uint64_t STACK_REACH = UINT64_C(8) << 20;
enum {
    ALIGNMENT_BITS = 0x3f /* to 64 bytes at most, as the widest vectors want */,
    THREAD = 1,
#if defined(__x86_64__)
    LEAF_BYTES = 8, /* that a call has put on the stack */
    REGISTER_9 = 9,
    REGISTER_12 = 12
#else
    LEAF_BYTES = 0,
    REGISTER_LINK = 30
#endif
};

static uint64_t stack_place(const struct user_stack *stack) {
    return STACK_PLACE + (stack->registers[REGISTER_STACK] & ALIGNMENT_BITS);
}

bool unwind_translate(const struct unwinder *unwinder, const struct user_stack *stack,
                      const struct space *space, uint64_t word, uint64_t *translated) {
    uint64_t above = word - stack->registers[REGISTER_STACK];
    uint64_t address = spaces_address(unwinder->spaces, space, word);
    if (address != 0) {
        *translated = address;
        return true;
    }
    *translated = word;
    if (word >= stack->registers[REGISTER_STACK] && above < stack->bytes) {
        *translated = stack_place(stack) + above;
        return true;
    }
    return false;
}

/* A word of the copy. `kept`: what an unwinding depends on, which is 0 for all that names neither code nor a
 * place of the stack: a register that was saved there, by which no call is found. */
static bool read_word(const struct unwinder *unwinder, const struct user_stack *stack,
                      const struct space *space, uint64_t address, uint64_t *word, uint64_t *kept) {
    uint64_t above = address - stack_place(stack);
    if (address < stack_place(stack) || stack->bytes < sizeof *word || above > stack->bytes - sizeof *word) {
        return false;
    }
    memcpy(word, stack->memory + above, sizeof *word);
    *kept = unwind_translate(unwinder, stack, space, *word, word) ? *word : 0;
    return true;
}

bool unwind_would_read(const struct unwinder *unwinder, const struct user_stack *stack,
                       const struct space *space, const uint64_t *addresses, const uint64_t *words,
                       size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        uint64_t kept = 0;
        if (!read_word(unwinder, stack, space, addresses[i], &word, &kept) || kept != words[i]) {
            return false;
        }
    }
    return true;
}

/* Reads for an unwinding, and notes what. */
static bool note_word(struct unwinder *unwinder, uint64_t address, uint64_t *word) {
    struct unwind_words *words = unwinder->words;
    uint64_t kept = 0;
    if (!read_word(unwinder, unwinder->stack, unwinder->space, address, word, &kept)) {
        uint64_t above = address - unwinder->stack->registers[REGISTER_STACK];
        uint64_t above_copy = address - stack_place(unwinder->stack);
        unwinder->beyond = unwinder->beyond || above < STACK_REACH || above_copy < STACK_REACH;
        words->failed = true;
        return false;
    }
    if (words->count == UNWIND_MOST_WORDS) {
        words->whole = false;
        return true;
    }
    words->address[words->count] = address;
    words->word[words->count++] = kept;
    return true;
}

static bool memory_read(struct libdw_session *session, uint64_t address, uint64_t *word, void *argument) {
    (void)session;
    return note_word(argument, address, word);
}

static pid_t next_thread(struct libdw_session *session, void *argument, void **thread_argument) {
    (void)session;
    /* The first time there is no argument of a thread yet. */
    if (*thread_argument != NULL) {
        return 0;
    }
    *thread_argument = argument;
    return THREAD;
}

static bool get_thread(struct libdw_session *session, pid_t thread, void *argument, void **thread_argument) {
    (void)session;
    *thread_argument = argument;
    return thread == THREAD;
}

static bool set_initial_registers(struct libdw_thread *thread, void *thread_argument) {
    struct unwinder *unwinder = thread_argument;
    uint64_t registers[REGISTERS];
    for (int i = 0; i < REGISTERS; i++) {
        (void)unwind_translate(unwinder, unwinder->stack, unwinder->space, unwinder->stack->registers[i],
                               &registers[i]);
    }
    registers[REGISTER_STACK] = stack_place(unwinder->stack);
    if (unwinder->from_caller != 0) {
        registers[REGISTER_PC] = unwinder->from_caller - 1;
        registers[REGISTER_STACK] += unwinder->leaf_bytes;
    }
#if defined(__x86_64__)
    return unwinder->libdw.thread_state_registers(thread, 0, REGISTERS, registers);
#else
    unwinder->libdw.thread_state_register_pc(thread, registers[REGISTER_PC]);
    return unwinder->libdw.thread_state_registers(thread, 0, REGISTER_PC, registers);
#endif
}

static const struct libdw_threads THREADS = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = memory_read,
    .set_initial_registers = set_initial_registers,
};

/* libdw hands no argument of ours to who finds a file. */
static const struct libdw *libelf;

/* The file was opened when it was mapped. libdw would keep a descriptor of each for good, where its bytes in
 * memory serve as well. */
static int find_elf(struct libdw_module *module, void **user, const char *name, uint64_t base, char **path,
                    struct libdw_elf **elf) {
    enum { FDREAD = 7, READ_MMAP_PRIVATE = 11 /* of Elf_Cmd */ };
    (void)module;
    (void)base;
    int file = fcntl((int)(intptr_t)*user - 1, F_DUPFD_CLOEXEC, 0);
    *path = strdup(name);
    *elf = file >= 0 ? libelf->elf_begin(file, READ_MMAP_PRIVATE, NULL) : NULL;
    if (*elf == NULL || libelf->elf_cntl(*elf, FDREAD) != 0) {
        return file;
    }
    close(file);
    return -1;
}

static struct libdw_files files = {.find_elf = find_elf};

int unwinder_open(struct unwinder *unwinder, struct spaces *spaces, struct reason *reason) {
    *unwinder = (struct unwinder){.spaces = spaces};
    if (libdw_open(&unwinder->libdw, reason) == 0) {
        enum { CURRENT = 1 /* EV_CURRENT */ };
        libelf = &unwinder->libdw;
        (void)libelf->elf_version(CURRENT);
        files.find_debuginfo = unwinder->libdw.standard_find_debuginfo;
        unwinder->session = unwinder->libdw.begin(&files);
    }
    return 0;
}

void unwinder_close(struct unwinder *unwinder) {
    if (unwinder->session != NULL) {
        unwinder->libdw.end(unwinder->session);
        unwinder->session = NULL;
    }
}

/* What was replaced since it was mapped would be unwound by the tables of another file. */
static bool is_the_file(const struct unwinder *unwinder, const struct module *module,
                        struct libdw_module *reported) {
    const unsigned char *bits = NULL;
    uint64_t address = 0;
    uint64_t bias = 0;
    if (unwinder->libdw.module_getelf(reported, &bias) == NULL) {
        return false;
    }
    int bytes = unwinder->libdw.module_build_id(reported, &bits, &address);
    size_t expected = module->identity.build_id_bytes;
    return expected == 0 ||
           (bytes == (int)expected && memcmp(bits, module->identity.build_id, expected) == 0);
}

static void report(struct unwinder *unwinder, struct module *module) {
    void **user = NULL;
    if (module->file < 0) {
        return;
    }
    struct libdw_module *reported = unwinder->libdw.report_module(unwinder->session, module->path,
                                                                  module->base, module->base + module->bytes);
    if (reported == NULL) {
        module->error = -ENOEXEC;
        return;
    }
    unwinder->libdw.module_info(reported, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number, which find_elf gets back */
    *user = (void *)(intptr_t)(module->file + 1);
    module->reported = reported;
}

/* Tells libdw of what was mapped since; it keeps what it needs of a file, and no descriptor. */
static void report_new(struct unwinder *unwinder) {
    struct modules *modules = &unwinder->spaces->modules;
    size_t first = unwinder->reported;
    if (first == modules->count) {
        return;
    }
    unwinder->libdw.report_begin_add(unwinder->session);
    while (unwinder->reported < modules->count) {
        report(unwinder, &modules->module[unwinder->reported++]);
    }
    (void)unwinder->libdw.report_end(unwinder->session, NULL, NULL);
    for (size_t i = first; i < modules->count; i++) {
        struct module *module = &modules->module[i];
        if (module->reported != NULL && !is_the_file(unwinder, module, module->reported)) {
            module->error = -ESTALE;
            module->reported = NULL;
        }
        modules_let_go(modules, module);
    }
}

void unwinder_meet(struct unwinder *unwinder) {
    struct modules *modules = &unwinder->spaces->modules;
    if (modules->open <= MODULES_MOST_OPEN) {
        return;
    }
    if (unwinder->session != NULL) {
        libdw_works(true);
        report_new(unwinder);
        libdw_works(false);
        return;
    }
    while (unwinder->reported < modules->count) {
        modules_let_go(modules, &modules->module[unwinder->reported++]);
    }
}

struct libdw_module *unwinder_module(struct unwinder *unwinder, const struct module *module) {
    if (unwinder->session != NULL) {
        report_new(unwinder);
    }
    return module->reported;
}

/* Whether an address is in a file that cannot be read. */
static bool unreadable(const struct unwinder *unwinder, uint64_t address) {
    const struct module *module = modules_at(&unwinder->spaces->modules, address);
    return module != NULL && module->error != 0;
}

static int meet_frame(struct libdw_frame *frame, void *argument) {
    struct unwinder *unwinder = argument;
    struct unwound *out = unwinder->out;
    uint64_t pc = 0;
    bool is_activation = false;
    if (out->count == UNWIND_MOST_FRAMES) {
        out->end = UNWIND_MOST;
        return LIBDW_STOP;
    }
    if (!unwinder->libdw.frame_pc(frame, &pc, &is_activation) || pc == 0) {
        return LIBDW_STOP;
    }
    const struct module *module = modules_at(&unwinder->spaces->modules, pc - (out->count > 0));
    if (module == NULL) {
        out->end = UNWIND_NO_CODE;
        return LIBDW_STOP;
    }
    /* A caller that is begun with was told by the call, not by what is behind it. */
    /* Where its file cannot be read, how a function is left is not known, and a frame pointer would be a
     * guess. */
    if (out->count > 0 && unreadable(unwinder, out->frames[out->count - 1])) {
        out->end = UNWIND_NO_FILE;
        return LIBDW_STOP;
    }
    out->frames[out->count] = pc + (out->count == 1 && unwinder->from_caller != 0);
    out->count++;
    return LIBDW_GO_ON;
}

#if defined(__x86_64__)
/* Go's system call for vfork takes its return address off the stack, where the child would overwrite it, and
 * keeps it in R12, before 1.18 in R9 (syscall/asm_linux_amd64.s). 0: it is another function. */
static uint64_t caller_of_go(struct unwinder *unwinder, uint64_t pc) {
    static const int KEPT_IN[] = {REGISTER_12, REGISTER_9};
    const struct module *module = modules_at(&unwinder->spaces->modules, pc);
    Elf64_Sym entry;
    uint64_t offset = 0;
    if (module == NULL || module->reported == NULL) {
        return 0;
    }
    const char *name =
        unwinder->libdw.module_addrinfo(module->reported, pc, &offset, &entry, NULL, NULL, NULL);
    if (name == NULL || strncmp(name, "syscall.rawVforkSyscall", strlen("syscall.rawVforkSyscall")) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof KEPT_IN / sizeof KEPT_IN[0]; i++) {
        uint64_t caller = 0;
        if (unwind_translate(unwinder, unwinder->stack, unwinder->space,
                             unwinder->stack->registers[KEPT_IN[i]], &caller) &&
            modules_at(&unwinder->spaces->modules, caller) != NULL) {
            return caller;
        }
    }
    return 0;
}
#endif

/* C libraries end the unwind tables before the system call of clone and clone3, of which the child would
 * unwind by them as well. Neither has a frame there: its return address is the first word of the stack, or in
 * the link register. 0: that is no code. */
static uint64_t caller_of_leaf(struct unwinder *unwinder, uint64_t pc) {
    uint64_t caller = 0;
    unwinder->leaf_bytes = LEAF_BYTES;
#if defined(__x86_64__)
    caller = caller_of_go(unwinder, pc);
    if (caller != 0) {
        unwinder->leaf_bytes = 0;
        return caller;
    }
    if (!note_word(unwinder, stack_place(unwinder->stack), &caller)) {
        return 0;
    }
#else
    (void)pc;
    (void)unwind_translate(unwinder, unwinder->stack, unwinder->space,
                           unwinder->stack->registers[REGISTER_LINK], &caller);
#endif
    return modules_at(&unwinder->spaces->modules, caller) != NULL ? caller : 0;
}

static void meet_frames(struct unwinder *unwinder) {
    struct unwound *out = unwinder->out;
    out->end = UNWIND_COMPLETE;
    int result = unwinder->libdw.getthread_frames(unwinder->session, THREAD, meet_frame, unwinder);
    if (result < 0) {
        (void)unwinder->libdw.error();
        out->end = UNWIND_NO_TABLE;
    }
    /* A return address that cannot be read ends the calls for libdw, as the outermost one does. */
    if (unwinder->beyond && (out->end == UNWIND_COMPLETE || out->end == UNWIND_NO_TABLE)) {
        out->end = UNWIND_BEYOND_COPY;
    }
}

/* Whether code has an unwind table at the place of a system call. */
static bool has_table(struct unwinder *unwinder, uint64_t pc) {
    const struct module *module = modules_at(&unwinder->spaces->modules, pc);
    uint64_t bias = 0;
    void *frame = NULL;
    if (module == NULL || module->reported == NULL) {
        return false;
    }
    void *table = unwinder->libdw.module_eh_cfi(module->reported, &bias);
    bool has = table != NULL && unwinder->libdw.cfi_addrframe(table, pc - bias, &frame) == 0;
    free(frame);
    return has;
}

static void unwind_by_tables(struct unwinder *unwinder) {
    uint64_t pc = 0;
    report_new(unwinder);
    if (!unwinder->attached) {
        unwinder->attached =
            unwinder->libdw.attach_state(unwinder->session, NULL, THREAD, &THREADS, unwinder);
    }
    bool in_code = unwind_translate(unwinder, unwinder->stack, unwinder->space,
                                    unwinder->stack->registers[REGISTER_PC], &pc);
    unwinder->from_caller =
        in_code && !unreadable(unwinder, pc) && !has_table(unwinder, pc) ? caller_of_leaf(unwinder, pc) : 0;
    if (unwinder->from_caller != 0) {
        unwinder->out->frames[unwinder->out->count++] = pc;
    }
    meet_frames(unwinder);
}

/* Each frame pointer leads to that of the caller, with the return address behind it. */
static void unwind_by_frames(struct unwinder *unwinder) {
    struct unwound *out = unwinder->out;
    uint64_t frame = 0;
    uint64_t pc = 0;
    uint64_t last = stack_place(unwinder->stack);
    (void)unwind_translate(unwinder, unwinder->stack, unwinder->space,
                           unwinder->stack->registers[REGISTER_FRAME], &frame);
    (void)unwind_translate(unwinder, unwinder->stack, unwinder->space,
                           unwinder->stack->registers[REGISTER_PC], &pc);
    out->end = UNWIND_BY_FRAMES_END;
    while (modules_at(&unwinder->spaces->modules, pc) != NULL) {
        if (out->count == UNWIND_MOST_FRAMES) {
            out->end = UNWIND_MOST;
            return;
        }
        out->frames[out->count++] = pc;
        uint64_t at = frame;
        if (at < last || !note_word(unwinder, at + sizeof at, &pc) || !note_word(unwinder, at, &frame)) {
            break;
        }
        last = at + 2 * sizeof at;
    }
    out->end = unwinder->beyond ? UNWIND_BEYOND_COPY : out->end;
}

void unwind(struct unwinder *unwinder, const struct user_stack *stack, const struct space *space,
            struct unwound *out, struct unwind_words *words) {
    unwinder->stack = stack;
    unwinder->space = space;
    unwinder->words = words;
    unwinder->out = out;
    unwinder->beyond = false;
    out->count = 0;
    words->count = 0;
    words->whole = true;
    words->failed = false;
    if (unwinder->session != NULL) {
        libdw_works(true);
        unwind_by_tables(unwinder);
        libdw_works(false);
    } else {
        unwind_by_frames(unwinder);
    }
    if (out->count > 0 && unreadable(unwinder, out->frames[out->count - 1])) {
        out->end = UNWIND_NO_FILE;
    }
    if (out->count == 0) {
        /* Where it was called from is known all the same. */
        if (unwind_translate(unwinder, stack, space, stack->registers[REGISTER_PC], &out->frames[0])) {
            out->count = 1;
        }
    }
}
