/* Programs that run in the kernel: the bpf(2) call. */
#ifndef CLONOMETER_EVENTS_BPF_H
#define CLONOMETER_EVENTS_BPF_H

#include <linux/bpf.h>

/* Its result, or -errno. */
long bpf_call(enum bpf_cmd command, union bpf_attr *attributes);

/* Attaches a program to a raw tracepoint, until the descriptor is closed. It, or -errno. */
long bpf_attach_raw(const char *tracepoint, int program);

#endif
