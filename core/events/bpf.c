#include "events/bpf.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

long bpf_call(enum bpf_cmd command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : result;
}

int bpf_open_map(int *map, enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes,
                 unsigned entries) {
    union bpf_attr attributes = {
        .map_type = type, .key_size = key_bytes, .value_size = value_bytes, .max_entries = entries};
    long made = bpf_call(BPF_MAP_CREATE, &attributes);
    *map = made < 0 ? -1 : (int)made;
    return made < 0 ? (int)made : 0;
}

long bpf_load(enum bpf_prog_type type, const struct bpf_insn *program, size_t length) {
    union bpf_attr attributes = {.prog_type = type,
                                 .insn_cnt = (uint32_t)length,
                                 .insns = (uint64_t)(uintptr_t)program,
                                 .license = (uint64_t)(uintptr_t)"Apache-2.0",
                                 .prog_name = "clonometer"};
    return bpf_call(BPF_PROG_LOAD, &attributes);
}

long bpf_load_typed(int32_t tracepoint, const struct bpf_insn *program, size_t length) {
    /* What a caller writes is its own: docs/decisions/0010-licence-in-the-kernel.md. */
    union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_TRACING,
                                 .expected_attach_type = BPF_TRACE_RAW_TP,
                                 .attach_btf_id = (uint32_t)tracepoint,
                                 .insn_cnt = (uint32_t)length,
                                 .insns = (uint64_t)(uintptr_t)program,
                                 .license = (uint64_t)(uintptr_t)"Dual MIT/GPL",
                                 .prog_name = "clonometer"};
    return bpf_call(BPF_PROG_LOAD, &attributes);
}

long bpf_attach_raw(const char *tracepoint, int program) {
    union bpf_attr attributes = {
        .raw_tracepoint = {.name = (uint64_t)(uintptr_t)tracepoint, .prog_fd = (uint32_t)program}};
    return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attributes);
}
