/* Programs that run in the kernel: the bpf(2) call. */
#ifndef CLONOMETER_EVENTS_BPF_H
#define CLONOMETER_EVENTS_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

struct writer; /* events/assemble.h */

/* Its result, or -errno. */
long bpf_call(enum bpf_cmd command, union bpf_attr *attributes);

/* Makes a map, whose descriptor is -1 where it cannot be made. 0 or -errno. */
int bpf_open_map(int *map, enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes,
                 unsigned entries);

/* Loads a program, which needs no licence of the kernel's. A descriptor; or -errno, and `why` says it, with
 * the last words of the kernel's verifier where it has looked at the program. */
long bpf_load(enum bpf_prog_type type, const struct writer *program, struct reason *why);

/* The same of one that reads the kernel's structures, at the tracepoint whose type in BTF has this number:
 * the kernel lets only programs do that whose licence is compatible with its own. */
long bpf_load_typed(int32_t tracepoint, const struct writer *program, struct reason *why);

/* What a person needs of the verifier's log: the instruction that it did not pass, and why. "": neither is
 * in it. Pure. */
void bpf_verdict(const char *log, char *text, size_t capacity);

/* Attaches a program to a raw tracepoint, until the descriptor is closed. It, or -errno. NULL: to that which
 * it was loaded for. */
long bpf_attach_raw(const char *tracepoint, int program);

#endif
