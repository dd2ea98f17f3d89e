/* ipc.process_vm_readv
 * Timed: as exchange.h says; the sender raises a count in shared memory (with a futex) when its message is
 * written, and the receiver copies it out of the sender's memory with process_vm_readv(): once. Between
 * threads the call reads the process's own memory. Source: process_vm_readv(2), ptrace(2) on Yama.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/ipc/exchange.h"

static int give(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    (void)message;
    credit_give(exchange, &lane->filled);
    return 0;
}

static int fetch(struct exchange *exchange, int side, struct lane *lane, unsigned char **message) {
    uint32_t number = lane->received - 1;
    const struct side *sender = &exchange->sides[1 - side];
    unsigned char *buffer = exchange->sides[side].in;
    int error = credit_await(exchange, &lane->filled, number);
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        struct iovec to = {.iov_base = buffer + at, .iov_len = exchange->size - at};
        struct iovec from = {.iov_base = exchange_slot(exchange, 1 - side, number) + at,
                             .iov_len = to.iov_len};
        error = exchange_carried(exchange, process_vm_readv(sender->process, &to, 1, &from, 1, 0), &at);
    }
    *message = buffer;
    /* A task that dies lets go of its memory before its death is told by SIGCHLD. */
    return error == -ESRCH ? -ECHILD : error;
}

/* Where Yama lets a process read only its descendants, this one permits its own to read it. */
static int permit(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    (void)exchange;
    (void)lane;
    (void)reason;
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, getpid(), 0, 0, 0);
#endif
    return 0;
}

/* In the partner, which must be allowed to read the memory of the process that started it. */
static int check(const struct exchange *exchange, struct reason *reason) {
    char byte;
    char scope[16] = "absent";
    struct iovec to = {.iov_base = &byte, .iov_len = 1};
    struct iovec from = {.iov_base = (void *)exchange, .iov_len = 1};
    if (process_vm_readv(exchange->sides[0].process, &to, 1, &from, 1, 0) == 1) {
        return 0;
    }
    int error = -errno;
    if (sys_read_file("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope) > 0) {
        scope[strcspn(scope, "\n")] = '\0';
    }
    return reason_set(reason, error,
                      "a task may not read another one's memory: %s (kernel.yama.ptrace_scope is %s); "
                      "as root, or with kernel.yama.ptrace_scope=1 or 0, it may",
                      strerror(-error), scope);
}

static int available(struct reason *reason) {
    return process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == 0
               ? 0
               : reason_set(reason, -errno, "process_vm_readv: %s", strerror(errno));
}

static const struct exchange_ways WAYS = {
    .receives = true,
    .frees = true,
    .open = permit,
    .check = check,
    .send = give,
    .receive = fetch,
};

EXCHANGE_WORKLOAD(ipc_process_vm_readv, "ipc.process_vm_readv", WAYS, available,
                  "messages that the receiver copies out of the sender's memory");
