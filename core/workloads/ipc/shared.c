/* ipc.shared_memory
 * Timed: as exchange.h says; the sender writes the message into memory that both reach, raises a count there
 * and wakes the receiver by a futex if it sleeps; the receiver reads it in place. Nothing is copied. Between
 * threads the memory is the process's own and the futex private, between processes a shared mapping. Source:
 * futex(7), mmap(2).
 */
#include "workloads/ipc/exchange.h"

static int send(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    (void)message;
    credit_give(exchange, &lane->filled);
    return 0;
}

static int receive(struct exchange *exchange, int side, struct lane *lane, unsigned char **message) {
    uint32_t number = lane->received - 1;
    *message = exchange_slot(exchange, 1 - side, number);
    return credit_await(exchange, &lane->filled, number);
}

static const struct exchange_ways WAYS = {
    .shares = true,
    .frees = true,
    .send = send,
    .receive = receive,
};

EXCHANGE_WORKLOAD(ipc_shared_memory, "ipc.shared_memory", WAYS, NULL,
                  "messages in shared memory, with a futex: nothing is copied");
