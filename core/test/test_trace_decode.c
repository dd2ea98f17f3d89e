/* Which system calls make tasks, and with which flags. */
#include <stdint.h>
#include <sys/syscall.h>

#include "base/clone.h"
#include "check.h"
#include "events/decode.h"

int main(void) {
    uint64_t flags = 99;
    CHECK(decode_call(SYS_clone, TASK_VM | 17, &flags) == CALL_MAKES_TASK && flags == TASK_VM, "clone");
    CHECK(decode_call(SYS_clone, UINT64_C(0xffffffff00000011), &flags) == CALL_MAKES_TASK && flags == 0,
          "clone takes 32 bits");
    CHECK(decode_call(SYS_clone3, 0x1000, &flags) == CALL_CLONE3, "clone3");
    CHECK(decode_call(SYS_getpid, 0, &flags) == CALL_OTHER, "another call");
#ifdef SYS_vfork
    CHECK(decode_call(SYS_vfork, 0, &flags) == CALL_MAKES_TASK && flags == (TASK_VM | TASK_VFORK), "vfork");
#endif
    return 0;
}
