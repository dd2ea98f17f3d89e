#include "events/bpf.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

long bpf_call(enum bpf_cmd command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : result;
}

long bpf_attach_raw(const char *tracepoint, int program) {
    union bpf_attr attributes = {
        .raw_tracepoint = {.name = (uint64_t)(uintptr_t)tracepoint, .prog_fd = (uint32_t)program}};
    return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attributes);
}
