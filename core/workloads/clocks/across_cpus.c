/* clock.across_cpus
 * Timed: nothing; what is measured is how far the clock that stamps launches is ahead on one CPU of another.
 * Two tasks of one process, each pinned to its CPU, send a number to and fro through a shared cache line:
 * A reads the clock (t1), B sees the number and reads it (t2), A sees the answer and reads it (t3). Light and
 * interrupts only ever delay, so t2 - t1 is the offset or more and t2 - t3 the offset or less: the tightest
 * of many rounds bound it from both sides, whatever the delays were. A stage measured across the two CPUs is
 * wrong by no more than these bounds. The pairs of the CPUs this process may use are taken in turn, a pair a
 * sample.
 * Bias: none on the offset's bounds; they are as wide as the fastest exchange. Within a round both tasks
 * spin, which is the only way to see a number at once; between samples they sleep. Source: the offset
 * measurement of NTP (RFC 5905, section 8); arch/x86/kernel/tsc_sync.c.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/workload.h"

enum { ROUNDS = 500, PATIENCE_NS = 200000000, LINE_BYTES = 128 };

/* Each word that the two write lies on a cache line (and its neighbour's prefetch) of its own. */
struct exchange {
    _Alignas(LINE_BYTES) uint32_t asked; /* A's: the round it asks for */
    _Alignas(LINE_BYTES) uint32_t answered;
    uint64_t answer_ticks;                /* t2 of that round */
    _Alignas(LINE_BYTES) uint32_t sample; /* which sample B serves; B sleeps on it */
    int cpu_b;
    uint32_t ready; /* which sample B stands ready for, or has refused; A sleeps on it */
    int pin_error;
    int stop;
    int64_t next_pair;
    pthread_t partner;
};

static uint32_t load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Spins until the word is `wanted`; false when that takes too long: the other is not running. */
static bool saw(const uint32_t *word, uint32_t wanted, uint64_t patience_ticks) {
    uint64_t start = clock_read().ticks;
    while (load(word) != wanted) {
        if (clock_read().ticks - start > patience_ticks) {
            return false;
        }
    }
    return true;
}

static uint64_t patience(void) {
    return PATIENCE_NS / 1000U * clock_used.hz / 1000000U;
}

/* No number comes twice, so that what a failed exchange left behind is never taken for an answer. */
static uint32_t round_number(uint32_t sample, uint32_t round) {
    return sample * ROUNDS + round;
}

static void *partner(void *argument) {
    struct exchange *exchange = argument;
    for (uint32_t sample = 1;; sample++) {
        while (load(&exchange->sample) != sample) {
            sys_futex_wait(&exchange->sample, sample - 1, 0);
        }
        if (exchange->stop) {
            return NULL;
        }
        exchange->pin_error = sys_pin(exchange->cpu_b);
        store(&exchange->ready, sample);
        sys_futex_wake(&exchange->ready, 1, 0);
        for (uint32_t round = 0; exchange->pin_error == 0 && round < ROUNDS; round++) {
            if (!saw(&exchange->asked, round_number(sample, round), patience())) {
                break;
            }
            exchange->answer_ticks = clock_read().ticks;
            store(&exchange->answered, round_number(sample, round));
        }
    }
}

/* Towards minus infinity for a lower bound, plus infinity for an upper one: rounding must not narrow. */
static int64_t bound_ns(int64_t ticks, int up) {
    __int128 scaled = (__int128)ticks * 1000000000;
    __int128 hz = (__int128)clock_used.hz;
    __int128 floor = scaled >= 0 ? scaled / hz : -((-scaled + hz - 1) / hz);
    return (int64_t)(floor + (up && floor * hz != scaled ? 1 : 0));
}

struct offset_row {
    struct sample sample; /* `cpu_before`: where this task is pinned, which is CPU a */
    int32_t cpu_a;
    int32_t cpu_b;
    int64_t low_ns;
    int64_t high_ns;
    uint64_t round_trip; /* ticks */
};

static int exchange_rounds(struct exchange *exchange, struct offset_row *row) {
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;
    uint64_t fastest = UINT64_MAX;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t number = round_number(exchange->sample, round);
        uint64_t asked = clock_read().ticks;
        store(&exchange->asked, number);
        if (!saw(&exchange->answered, number, patience())) {
            return -ETIMEDOUT;
        }
        uint64_t seen = clock_read().ticks;
        int64_t most = (int64_t)(exchange->answer_ticks - asked);
        int64_t least = (int64_t)(exchange->answer_ticks - seen);
        high = most < high ? most : high;
        low = least > low ? least : low;
        fastest = seen - asked < fastest ? seen - asked : fastest;
    }
    row->low_ns = bound_ns(low, 0);
    row->high_ns = bound_ns(high, 1);
    row->round_trip = fastest;
    return 0;
}

/* The CPUs of the next pair, in the order (0,1), (0,2), ..., (1,2), ...; round and round. */
static void next_pair(struct exchange *exchange, const struct sys_cpus *cpus, int *cpu_a, int *cpu_b) {
    int64_t count = sys_cpu_count(cpus);
    int64_t pair = exchange->next_pair++ % (count * (count - 1) / 2);
    for (*cpu_a = 0;; (*cpu_a)++) {
        for (*cpu_b = *cpu_a + 1; *cpu_b < SYS_MAX_CPUS; (*cpu_b)++) {
            if (sys_cpu_in(cpus, *cpu_a) && sys_cpu_in(cpus, *cpu_b) && pair-- == 0) {
                return;
            }
        }
    }
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct exchange *exchange = bench->state;
    int cpu_a;
    next_pair(exchange, bench->affinity, &cpu_a, &exchange->cpu_b);
    struct offset_row *row = (struct offset_row *)(void *)sample;
    row->cpu_a = cpu_a;
    row->cpu_b = exchange->cpu_b;
    sample->cpu_before = cpu_a;
    uint32_t turn = exchange->sample + 1;
    store(&exchange->sample, turn);
    sys_futex_wake(&exchange->sample, 1, 0);
    while (load(&exchange->ready) != turn) {
        sys_futex_wait(&exchange->ready, turn - 1, 0);
    }
    int error = exchange->pin_error != 0 ? exchange->pin_error : sys_pin(cpu_a);
    return error != 0 ? error : exchange_rounds(exchange, row);
}

static int available(struct reason *reason) {
    struct sys_cpus cpus;
    int error = sys_allowed(&cpus);
    if (error == 0 && sys_cpu_count(&cpus) < 2) {
        return reason_set(reason, -ENOSYS,
                          "this process may use only one CPU: there is no other clock to compare with");
    }
    return error;
}

static int prepare(struct bench *bench, struct reason *reason) {
    struct exchange *exchange =
        mmap(NULL, sizeof *exchange, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (exchange == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for the two to share");
    }
    bench->state = exchange;
    int error = pthread_create(&exchange->partner, NULL, partner, exchange);
    return error != 0 ? reason_set(reason, -error, "the task on the other CPU cannot be started") : 0;
}

static void finish(struct bench *bench) {
    struct exchange *exchange = bench->state;
    exchange->stop = 1;
    store(&exchange->sample, exchange->sample + 1);
    sys_futex_wake(&exchange->sample, 1, 0);
    pthread_join(exchange->partner, NULL);
}

static const struct column COLUMNS[] = {
    {"cpu_a", COLUMN_CPU, offsetof(struct offset_row, cpu_a), NULL, NULL},
    {"cpu_b", COLUMN_CPU, offsetof(struct offset_row, cpu_b), NULL, NULL},
    {"offset_low_ns", COLUMN_SIGNED_NS, offsetof(struct offset_row, low_ns), NULL,
     "how far the clock of CPU b is ahead of that of CPU a, at least"},
    {"offset_high_ns", COLUMN_SIGNED_NS, offsetof(struct offset_row, high_ns), NULL,
     "how far the clock of CPU b is ahead of that of CPU a, at most"},
    {"round_trip_ns", COLUMN_DURATION, offsetof(struct offset_row, round_trip), NULL,
     "the fastest exchange between the two CPUs"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {"linkage", "frequency", NULL};

const struct workload clock_across_cpus = {
    .id = "clock.across_cpus",
    .family = "clock",
    .summary = "how well the clock that stamps launches agrees between two CPUs",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .needs.available = available,
    .prepare = prepare,
    ROWS_OF(offset_row),
    .launch = launch,
    .finish = finish,
};
