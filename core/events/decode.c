#include "events/decode.h"

#include <sys/syscall.h>

#include "base/clone.h"

enum { EXIT_SIGNAL_BITS = 0xff };

enum call_kind decode_call(uint64_t number, uint64_t argument, uint64_t *flags) {
    if (number == SYS_clone3) {
        return CALL_CLONE3;
    }
    if (number == SYS_clone) {
        /* The kernel takes 32 bits of them. */
        *flags = argument & UINT32_MAX & ~(uint64_t)EXIT_SIGNAL_BITS;
        return CALL_MAKES_TASK;
    }
#ifdef SYS_fork /* arm64 never had these two */
    if (number == SYS_fork) {
        *flags = 0;
        return CALL_MAKES_TASK;
    }
#endif
#ifdef SYS_vfork
    if (number == SYS_vfork) {
        *flags = TASK_VM | TASK_VFORK;
        return CALL_MAKES_TASK;
    }
#endif
    return CALL_OTHER;
}
