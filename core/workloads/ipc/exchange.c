#include "workloads/ipc/exchange.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/limits/limits.h"
#include "probe/parent/parent.h"
#include "workloads/launch/launch.h"

enum {
    FEWEST_MESSAGES = 4,
    MOST_MESSAGES = 64,
    PART_BYTES = 4 << 20, /* a part of a sample carries no more than this, the fewest messages aside */
    DESCRIPTOR_BYTES = 64 << 10
};
static const int64_t MOST_BYTES = (int64_t)1 << 30;

const struct column EXCHANGE_COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, offsetof(struct sample, before), NULL, NULL},
    {"latency_ns", COLUMN_EACH, offsetof(struct exchange_row, round_trips), NULL,
     "half a round trip: a message is written, carried and read"},
    {"stream_ns", COLUMN_EACH, offsetof(struct exchange_row, stream), NULL,
     "each of many consecutive messages"},
    {"bandwidth", COLUMN_BYTES_PER_S, offsetof(struct exchange_row, bytes_per_s), NULL,
     "bytes per second of many consecutive messages"},
    {"cpu_before", COLUMN_CPU, offsetof(struct sample, cpu_before), NULL, NULL},
    {"cpu_after", COLUMN_CPU, offsetof(struct sample, cpu_after), NULL, NULL},
    {"cpu_child", COLUMN_CPU, offsetof(struct sample, cpu_child), NULL, NULL},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const EXCHANGE_AXES[] = {"linkage",   "placement",     "partner_cpu",
                                     "task_kind", "message_bytes", NULL};

/* Even, since half of them are answers. */
int64_t exchange_operations(const struct request *request) {
    int64_t messages = PART_BYTES / (request->message_bytes > 0 ? request->message_bytes : 1);
    messages = messages > MOST_MESSAGES ? MOST_MESSAGES : messages;
    return messages > FEWEST_MESSAGES ? messages / 2 * 2 : FEWEST_MESSAGES;
}

static int64_t slots_of(int64_t size, const struct exchange_ways *ways) {
    int64_t slots = EXCHANGE_SLOTS_BYTES / size;
    slots = slots > EXCHANGE_MOST_SLOTS ? EXCHANGE_MOST_SLOTS : slots;
    return !ways->frees ? 1 : slots > 2 ? slots : 2;
}

unsigned char *exchange_slot(const struct exchange *exchange, int side, uint32_t number) {
    return exchange->sides[side].out + exchange->size * (number % exchange->slots);
}

/* Both sides order their own store before their look at the other's, so that one of them sees the other:
 * nobody sleeps through a wake-up that was spared. */
void credit_give(const struct exchange *exchange, struct credit *credit) {
    __atomic_add_fetch(&credit->count, 1U, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&credit->sleeper, __ATOMIC_SEQ_CST) != 0) {
        sys_futex_wake(&credit->count, 1, exchange->processes);
    }
}

int credit_await(const struct exchange *exchange, struct credit *credit, uint32_t count) {
    int error = 0;
    if ((int32_t)(__atomic_load_n(&credit->count, __ATOMIC_ACQUIRE) - count) > 0) {
        return 0;
    }
    __atomic_store_n(&credit->sleeper, 1U, __ATOMIC_SEQ_CST);
    for (uint32_t seen = __atomic_load_n(&credit->count, __ATOMIC_SEQ_CST);
         error == 0 && (int32_t)(seen - count) <= 0;
         seen = __atomic_load_n(&credit->count, __ATOMIC_SEQ_CST)) {
        error = team_await_word(exchange->team, &credit->count, seen);
    }
    __atomic_store_n(&credit->sleeper, 0U, __ATOMIC_RELAXED);
    return error;
}

int exchange_open_pipe(const struct exchange *exchange, struct lane *lane, struct reason *reason) {
    (void)exchange;
    return pipe(lane->fds) == 0 ? 0
                                : reason_set(reason, -errno, "a pipe cannot be created: %s", strerror(errno));
}

int exchange_write(struct exchange *exchange, int side, struct lane *lane, const unsigned char *message) {
    (void)side;
    int error = 0;
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        error = exchange_carried(exchange, write(lane->fds[1], message + at, exchange->size - at), &at);
    }
    return error;
}

int exchange_read(struct exchange *exchange, int side, struct lane *lane, unsigned char **message) {
    unsigned char *into = exchange->sides[side].in;
    int error = 0;
    for (size_t at = 0; error == 0 && at < exchange->size;) {
        error = exchange_carried(exchange, read(lane->fds[0], into + at, exchange->size - at), &at);
    }
    *message = into;
    return error;
}

/* What the n-th message of a lane is made of: never 0, which the buffers began with. */
static unsigned char pattern(uint32_t number) {
    return (unsigned char)(1 + number % 255);
}

/* Reads every byte. Whether all were as sent. The build aligns this file's loops (CMakeLists.txt): one
 * astride two lines of the instruction cache may take twice as long, and where the linker puts it changes
 * with any other line. */
static bool read_all(const unsigned char *message, size_t size, unsigned char byte) {
    const uint64_t expected = 0x0101010101010101U * byte;
    uint64_t differing = 0;
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, message + at, sizeof word);
        differing |= word ^ expected;
    }
    for (; at < size; at++) {
        differing |= message[at] ^ byte;
    }
    return differing == 0;
}

static int put(struct exchange *exchange, int side) {
    struct lane *lane = &exchange->lanes[side];
    uint32_t number = lane->sent++;
    unsigned char *message = exchange_slot(exchange, side, number);
    /* The receiver may still need what was sent before in this slot. */
    int error = exchange->ways->frees && number >= exchange->slots
                    ? credit_await(exchange, &lane->freed, number - exchange->slots)
                    : 0;
    if (error != 0) {
        return error;
    }
    memset(message, pattern(number), exchange->size);
    return exchange->ways->send(exchange, side, lane, message);
}

static int take(struct exchange *exchange, int side) {
    struct lane *lane = &exchange->lanes[1 - side];
    uint32_t number = lane->received++;
    unsigned char *message = NULL;
    int error = exchange->ways->receive(exchange, side, lane, &message);
    if (error != 0) {
        return error;
    }
    if (!read_all(message, exchange->size, pattern(number))) {
        /* Both go on, so that nobody waits for ever. */
        exchange->error = -EBADMSG;
    }
    if (exchange->ways->frees) {
        credit_give(exchange, &lane->freed);
    }
    return 0;
}

/* The partner's part of a sample: answers, then a stream that it only reads. */
static int partner_sample(struct exchange *exchange) {
    int error = 0;
    for (int i = 0; error == 0 && i < exchange->messages / 2 + 1; i++) {
        error = take(exchange, 1);
        error = error != 0 ? error : put(exchange, 1);
    }
    for (int i = 0; error == 0 && i < exchange->messages; i++) {
        error = take(exchange, 1);
    }
    return error;
}

static void partner(void *state, int number) {
    struct exchange *exchange = state;
    (void)number;
    for (uint32_t orders = 0; team_await_word(exchange->team, &exchange->order, orders) == 0; orders++) {
        int32_t cpu = (int32_t)sys_cpu();
        int error = partner_sample(exchange);
        exchange->partner_cpu = cpu == (int32_t)sys_cpu() ? cpu : -1;
        if (error != 0) {
            exchange->error = error;
            return;
        }
        __atomic_add_fetch(&exchange->done, 1U, __ATOMIC_RELEASE);
        sys_futex_wake(&exchange->done, 1, exchange->processes);
    }
}

/* A side's own buffers. What is shared was mapped before the partner started, and is only touched here. */
static int map_side(void *state, int number, struct reason *reason) {
    struct exchange *exchange = state;
    const struct exchange_ways *ways = exchange->ways;
    struct side *side = &exchange->sides[number];
    int error = 0;
    side->process = getpid();
    size_t length = exchange->size * exchange->slots;
    if (ways->shares) {
        (void)read_all(exchange->sides[1 - number].out, length, 0);
        memset(side->out, 0, length);
    } else {
        error = team_map(length, false, &side->out);
    }
    if (error == 0 && ways->receives) {
        /* A queue wants room for its largest message, whatever comes. */
        error = team_map(exchange->size + EXCHANGE_MOST_PIECE_BYTES, false, &side->in);
    }
    if (error != 0) {
        return reason_set(reason, error, "a message's memory cannot be mapped: %s", strerror(-error));
    }
    return number == 1 && ways->check != NULL ? ways->check(exchange, reason) : 0;
}

static int map_shared(struct exchange *exchange, struct reason *reason) {
    int error = 0;
    for (int i = 0; error == 0 && exchange->ways->shares && i < EXCHANGE_SIDES; i++) {
        error = team_map(exchange->size * exchange->slots, exchange->processes, &exchange->sides[i].out);
    }
    return error != 0 ? reason_set(reason, error, "a message's memory cannot be mapped: %s", strerror(-error))
                      : 0;
}

static int check(const struct request *request, const struct exchange_ways *ways, struct reason *reason) {
    int64_t size = request->message_bytes;
    if (size > MOST_BYTES) {
        return reason_set(reason, -EOPNOTSUPP, "message_bytes=%lld: at most %lld", (long long)size,
                          (long long)MOST_BYTES);
    }
    int64_t descriptors = (int64_t)EXCHANGE_SIDES * ways->descriptors;
    struct limits_need need = {
        .memory_bytes = EXCHANGE_SIDES * (size * (slots_of(size, ways) + (ways->receives ? 1 : 0))) +
                        descriptors * DESCRIPTOR_BYTES + team_member_bytes(request),
        .tasks = 2,
        .descriptors = descriptors,
        .files = descriptors,
    };
    int error = limits_check("", &need, reason);
    return error != 0 ? error : parent_files_raise(descriptors, reason);
}

static int open_lanes(struct exchange *exchange, struct reason *reason) {
    int error = 0;
    for (int i = 0; error == 0 && exchange->ways->open != NULL && i < EXCHANGE_SIDES; i++) {
        error = exchange->ways->open(exchange, &exchange->lanes[i], reason);
    }
    return error;
}

int exchange_prepare(struct bench *bench, const struct exchange_ways *ways, struct reason *reason) {
    const struct request *request = bench->request;
    int error = check(request, ways, reason);
    if (error != 0) {
        return error;
    }
    struct exchange *exchange =
        mmap(NULL, sizeof *exchange, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (exchange == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory to exchange messages: %s", strerror(errno));
    }
    exchange->ways = ways;
    exchange->size = (size_t)request->message_bytes;
    exchange->slots = (uint32_t)slots_of(request->message_bytes, ways);
    exchange->messages = (int)exchange_operations(request);
    exchange->processes = team_of_processes(request);
    exchange->sides[0].process = getpid();
    struct team_duty duty = {.prepare = map_side, .work = partner, .state = exchange};
    bench->state = exchange;
    error = map_shared(exchange, reason);
    error = error != 0 ? error : open_lanes(exchange, reason);
    error = error != 0 ? error : team_start(bench, 1, &duty, &exchange->team, reason);
    /* After the start: a forked partner would begin with a copy of it. */
    error = error != 0 ? error : map_side(exchange, 0, reason);
    if (error != 0) {
        exchange_finish(bench);
    }
    return error;
}

void exchange_finish(struct bench *bench) {
    struct exchange *exchange = bench->state;
    if (exchange->team != NULL) {
        team_end(exchange->team);
    }
    munmap(exchange, sizeof *exchange);
    bench->state = NULL;
}

static int round_trips(struct exchange *exchange, int count) {
    int error = 0;
    for (int i = 0; error == 0 && i < count; i++) {
        error = put(exchange, 0);
        error = error != 0 ? error : take(exchange, 0);
    }
    return error;
}

static int stream(struct exchange *exchange, uint32_t done) {
    int error = 0;
    for (int i = 0; error == 0 && i < exchange->messages; i++) {
        error = put(exchange, 0);
    }
    return error != 0 ? error : team_await_word(exchange->team, &exchange->done, done);
}

static int64_t bytes_per_s(const struct exchange *exchange, uint64_t ticks) {
    int64_t ns = clock_ns((int64_t)ticks);
    double bytes = (double)exchange->size * exchange->messages;
    return ns > 0 ? (int64_t)(bytes / (double)ns * 1e9) : INT64_MIN;
}

int exchange_launch(const struct bench *bench, struct sample *sample) {
    struct exchange *exchange = bench->state;
    struct exchange_row *row = (struct exchange_row *)(void *)sample;
    uint32_t done = __atomic_load_n(&exchange->done, __ATOMIC_ACQUIRE);
    if (team_over(exchange->team)) {
        return -ECHILD;
    }
    exchange->error = 0;
    __atomic_add_fetch(&exchange->order, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(&exchange->order, 1, exchange->processes);
    int error = round_trips(exchange, 1);
    launch_before(sample);
    error = error != 0 ? error : round_trips(exchange, exchange->messages / 2);
    uint64_t middle = clock_read().ticks;
    error = error != 0 ? error : stream(exchange, done);
    struct stamp end = clock_read();
    sample->cpu_after = (int32_t)end.cpu;
    sample->cpu_child = sample->cpu_before == sample->cpu_after ? exchange->partner_cpu : -1;
    row->round_trips = middle - sample->before;
    row->stream = end.ticks - middle;
    row->bytes_per_s = bytes_per_s(exchange, row->stream);
    return exchange->error != 0 ? exchange->error : error;
}
