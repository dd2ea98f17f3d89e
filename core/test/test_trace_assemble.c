/* A program that does not fit is never loaded, nor is one whose places the kernel cannot be told; of one that
 * the kernel refuses, the reason has the verifier's words. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "events/assemble.h"
#include "events/bpf.h"
#include "tracer/program.h"

enum { VERDICT_BYTES = 160 };

static void check_refused(const struct writer *program, int error, const char *words) {
    struct reason why = {""};
    long loaded = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, program, &why);
    CHECK(loaded == error && strstr(why.text, words) != NULL, "%ld: %s", loaded, why.text);
    why.text[0] = '\0';
    loaded = bpf_load_typed(1, program, &why);
    CHECK(loaded == error && strstr(why.text, words) != NULL, "%ld: %s", loaded, why.text);
}

/* The last word before room ends is written, and nothing behind it. */
static void check_room(void) {
    struct {
        struct writer to;
        unsigned char behind[64];
    } *room = calloc(1, sizeof *room);
    CHECK(room != NULL, "no memory");
    size_t from = jump_constant(&room->to, BPF_JEQ, 0, 0);
    for (int i = 1; i < WRITER_MOST_INSTRUCTIONS; i++) {
        with_constant(&room->to, BPF_MOV, 0, i);
    }
    CHECK(room->to.error == 0 && room->to.length == WRITER_MOST_INSTRUCTIONS, "all the room is used");
    leave_with(&room->to, 0);
    land(&room->to, from);
    CHECK(room->to.error == -E2BIG && room->to.length == WRITER_MOST_INSTRUCTIONS, "one more");
    for (size_t i = 0; i < sizeof room->behind; i++) {
        CHECK(room->behind[i] == 0, "byte %zu behind it", i);
    }
    check_refused(&room->to, -E2BIG, "too many instructions");
    free(room);
}

static void check_numbers(void) {
    struct writer far = {.length = 0};
    load(&far, BPF_DW, 1, 6, INT16_MAX);
    CHECK(far.error == 0, "the farthest place");
    load(&far, BPF_DW, 1, 6, INT16_MAX + 1);
    CHECK(far.error == -ERANGE && far.length == 1, "one byte farther");
    check_refused(&far, -ERANGE, "too far off");
    struct writer large = {.length = 0};
    with_constant(&large, BPF_AND, 1, (int64_t)INT32_MAX + 1);
    CHECK(large.error == -ERANGE, "a constant of 32 bits and more");
    /* A field of a tracepoint's record that lies too far off. */
    static const struct event_format FORMAT = {.fields = 1, .field = {{.at = 40000, .bytes = 4}}};
    static const struct program_layout LAYOUT = {.cpu_bits = 10, .note_bits = 10};
    const struct program_wish wish = {.kind = EVENT_WAKE, .type = PROGRAM_TRACEPOINT, .format = &FORMAT};
    struct writer wished;
    program_build(&wished, &wish, &LAYOUT, 5);
    check_refused(&wished, -ERANGE, "too far off");
}

static void verdict(const char *log, const char *expected) {
    char text[VERDICT_BYTES];
    bpf_verdict(log, text, sizeof text);
    CHECK(strcmp(text, expected) == 0, "%s", text);
}

static void check_verdicts(void) {
    verdict("", "");
    verdict("processed 3 insns (limit 1000000) max_states_per_insn 0\n", "");
    verdict("0: R1=ctx() R10=fp0\n0: (79) r6 = *(u64 *)(r1 +4096) ; R1=ctx()\ninvalid bpf_context access "
            "off=4096 "
            "size=8\nprocessed 1 insns (limit 1000000)\n",
            "0: (79) r6 = *(u64 *)(r1 +4096) : invalid bpf_context access off=4096 size=8");
    verdict("unknown opcode db", "unknown opcode db");
    verdict("0: (b7) r0 = 0\n1: (95) exit\nprocessed 2 insns\n", "");
    verdict("\x1b[31mred\x07\n", " [31mred ");
    char longest[2 * VERDICT_BYTES + 1];
    char text[VERDICT_BYTES];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    for (size_t room = 1; room <= sizeof text; room++) {
        bpf_verdict(longest, text, room);
        CHECK(strlen(text) < room, "within %zu bytes", room);
    }
}

/* Register 2 has nothing in it. */
static int check_verifier(void) {
    struct writer reads = {.length = 0};
    struct reason why = {""};
    copy(&reads, 0, 2);
    put(&reads, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    long loaded = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &reads, &why);
    if (loaded == -EPERM || loaded == -ENOSYS) {
        fprintf(stderr, "%s\n", why.text);
        return TEST_NOT_POSSIBLE;
    }
    CHECK(loaded == -EACCES && strstr(why.text, "Permission denied: 0: (bf) r0 = r2") != NULL &&
              strstr(why.text, "R2 !read_ok") != NULL,
          "%ld: %s", loaded, why.text);
    reads.length = 0;
    leave_with(&reads, 0);
    loaded = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &reads, &why);
    CHECK(loaded >= 0 && close((int)loaded) == 0, "one that it passes: %s", why.text);
    return 0;
}

int main(void) {
    check_room();
    check_numbers();
    check_verdicts();
    return check_verifier();
}
