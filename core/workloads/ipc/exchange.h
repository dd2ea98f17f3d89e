/* What messages have in common: this task and a partner, a thread of this process or a process of its own,
 * exchange them by one mechanism.
 *
 * What a message does is the same for all: the sender writes the whole message into memory of its own (into
 * the shared memory where there is some), the mechanism carries it, and the receiver then has it whole and
 * reads all of it (and checks what it read).
 * Timed: latency_ns is half a round trip: a message goes there, and one of the same size comes back, from
 * before the first is written until the last has been read, for each message. stream_ns is what each of a row
 * of messages takes that follow one another in one direction without waiting for answers, from before the
 * first is written until word has come that the last has been read; bandwidth is their bytes for that time.
 * Outside: starting the partner, waking it up for each sample, a round trip before the timed ones; all
 * buffers are written before anything is timed.
 * Bias: the same buffers are used again, so that what fits into a cache is exchanged from there; a stream is
 * only some messages long (64 of the smallest, 4 of the largest), so that its beginning, when the receiver
 * has nothing to read yet, is part of it. A sender has two buffers in turn where the receiver reads them in
 * place.
 */
#ifndef CLONOMETER_EXCHANGE_H
#define CLONOMETER_EXCHANGE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/workload.h"
#include "workloads/team/team.h"

struct exchange_row {
    struct sample sample;
    uint64_t round_trips; /* ticks of all of them together */
    uint64_t stream;      /* ticks of all its messages */
    int64_t bytes_per_s;  /* INT64_MIN: none */
};

extern const struct column EXCHANGE_COLUMNS[];
extern const char *const EXCHANGE_AXES[];

enum {
    EXCHANGE_MOST_SLOTS = 64,
    EXCHANGE_SLOTS_BYTES = 64 << 10, /* as much as a pipe holds by default */
    EXCHANGE_SIDES = 2,
    EXCHANGE_MOST_PIECE_BYTES = 64 << 10 /* of a queue's messages */
};

/* A count that one side raises and the other waits for; nobody is woken who does not sleep. */
struct credit {
    _Alignas(TEAM_LINE_BYTES) uint32_t count;
    uint32_t sleeper;
};

/* One direction. The padding is meant. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct lane {
    struct credit filled;                    /* messages that are there */
    struct credit freed;                     /* messages whose memory may be written again */
    int fds[2];                              /* read from, written to */
    size_t piece_bytes;                      /* the most that a queue carries at once */
    _Alignas(TEAM_LINE_BYTES) uint32_t sent; /* the sender's own count */
    _Alignas(TEAM_LINE_BYTES) uint32_t received;
};

/* What one task has. */
struct side {
    _Alignas(TEAM_LINE_BYTES) unsigned char *out; /* its slots, one after another */
    unsigned char *in;                            /* NULL: it reads in place */
    pid_t process;
};

struct exchange;

/* What tells the mechanisms apart. All return 0, or -errno. */
struct exchange_ways {
    bool shares;     /* both sides reach the sender's buffers */
    bool receives;   /* the receiver needs a buffer of its own */
    int descriptors; /* of each lane */
    bool frees;      /* the receiver says when it has read a message */
    int (*open)(const struct exchange *exchange, struct lane *lane, struct reason *reason); /* may be NULL */
    int (*check)(const struct exchange *exchange, struct reason *reason); /* in the partner; may be NULL */
    int (*send)(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message);
    int (*receive)(struct exchange *exchange, int side, struct lane *lane, unsigned char **message);
};

/* In memory that both share. The padding is meant.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct exchange {
    const struct exchange_ways *ways;
    struct team *team;
    size_t size;
    uint32_t slots; /* messages that a sender has room for: one where they are copied at once */
    int messages;   /* in each part of a sample */
    int processes;
    int error;                         /* what the partner saw */
    struct lane lanes[EXCHANGE_SIDES]; /* lane i is written by side i */
    struct side sides[EXCHANGE_SIDES];
    _Alignas(TEAM_LINE_BYTES) uint32_t order; /* raised for each sample */
    _Alignas(TEAM_LINE_BYTES) uint32_t done;
    int32_t partner_cpu; /* of the last sample; -1: it moved */
};

/* Starts the partner. 0, or -errno with the reason; then nothing is left. */
int exchange_prepare(struct bench *bench, const struct exchange_ways *ways, struct reason *reason);
int exchange_launch(const struct bench *bench, struct sample *sample);
int64_t exchange_operations(const struct request *request);
void exchange_finish(struct bench *bench);

/* Raises the count and wakes whoever sleeps on it. */
void credit_give(const struct exchange *exchange, struct credit *credit);
/* Waits until the count is past `count`. 0, or -ECHILD. */
int credit_await(const struct exchange *exchange, struct credit *credit, uint32_t count);

/* Where the n-th message of a side lies. */
unsigned char *exchange_slot(const struct exchange *exchange, int side, uint32_t number);

/* Takes in what a call that carries a piece of a message has returned, so that all ways bear the same of it:
 * moves `at` past the piece. A call that a signal has broken off is made again, unless the partner has gone.
 * 0, or -errno. Here, so that it costs no call between two pieces. */
static inline int exchange_carried(const struct exchange *exchange, ssize_t bytes, size_t *at) {
    if (bytes > 0) {
        *at += (size_t)bytes;
        return 0;
    }
    if (bytes == 0) {
        return -EPIPE;
    }
    if (errno != EINTR) {
        return -errno;
    }
    return team_over(exchange->team) ? -ECHILD : 0;
}

/* A lane that is a pipe of its default capacity. */
int exchange_open_pipe(const struct exchange *exchange, struct lane *lane, struct reason *reason);
/* Writes or reads all of a message through descriptors. */
int exchange_write(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message);
int exchange_read(struct exchange *exchange, int side, struct lane *lane, unsigned char **message);

#define EXCHANGE_WORKLOAD(variable, name, ways_of, available_of, says)                                       \
    static int prepare_##variable(struct bench *bench, struct reason *reason) {                              \
        return exchange_prepare(bench, &(ways_of), reason);                                                  \
    }                                                                                                        \
    const struct workload variable = {                                                                       \
        .id = (name),                                                                                        \
        .family = "ipc",                                                                                     \
        ROWS_OF(exchange_row),                                                                               \
        .summary = (says),                                                                                   \
        .answers.columns = EXCHANGE_COLUMNS,                                                                 \
        .axes = EXCHANGE_AXES,                                                                               \
        .needs.available = (available_of),                                                                   \
        .prepare = prepare_##variable,                                                                       \
        .launch = exchange_launch,                                                                           \
        .rows.operations = exchange_operations,                                                              \
        .finish = exchange_finish,                                                                           \
    }

#endif
