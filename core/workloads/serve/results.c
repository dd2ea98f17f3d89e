/* What a period says: a row for each request, and in the first answered one what is true of the whole. */
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "workloads/serve/serve.h"

static const int64_t PARTS = 10; /* of a period: the first and the last are compared */

static uint64_t ticks_of(const struct serve *serve, int64_t ns) {
    unsigned __int128 ticks = (unsigned __int128)(uint64_t)ns * clock_used.hz / 1000000000U;
    return serve->shared->start_ticks + (uint64_t)ticks;
}

static void say_nothing(struct serve_row *row) {
    row->latency = row->cpu_each = row->system_each = row->faults_each = row->switches_each =
        row->served_per_s = (double)NAN;
    row->pss = row->failed = row->lost = row->dead_tasks = row->whole_again = INT64_MIN;
}

static double mean_latency(const struct serve *serve, int64_t first, int64_t end) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = first; i < end; i++) {
        const struct serve_result *result = &serve->shared->results[i];
        sum += result->error == 0 ? (double)result->latency : 0;
        count += result->error == 0;
    }
    return count > 0 ? sum / (double)count : 0;
}

/* Requests a second that it could answer: where latencies grow from the first tenth to the last, the server
 * has fallen behind by as much. Those that wait anyway, however long, are no delay. */
static double served_per_s(const struct serve *serve, int64_t answered, bool timed_out) {
    int64_t count = serve->requests;
    int64_t length_ns = serve->request->load_ns;
    int64_t last_ns = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct serve_result *result = &serve->shared->results[i];
        int64_t end = result->error == 0 ? result->intended + result->latency : 0;
        last_ns = end > last_ns ? end : last_ns;
    }
    double took = (double)length_ns;
    if (timed_out && last_ns > 0) {
        took = (double)last_ns;
    } else if (count >= 2 * PARTS) {
        double growth =
            mean_latency(serve, count - count / PARTS, count) - mean_latency(serve, 0, count / PARTS);
        took += growth > 0 ? growth * (double)PARTS / (double)(PARTS - 1) : 0;
    }
    return (double)answered * 1e9 / took;
}

static void fill_whole(const struct serve *serve, const struct serve_period *period, int64_t answered,
                       bool timed_out, struct serve_row *row) {
    const struct serve_shared *shared = serve->shared;
    double each = (double)answered;
    row->cpu_each = (double)period->used.cpu_ns / each;
    row->system_each = (double)period->used.system_ns / each;
    row->faults_each = (double)period->used.faults / each;
    row->switches_each = (double)period->used.switches / each;
    row->served_per_s = served_per_s(serve, answered, timed_out);
    row->pss = period->pss < 0 ? INT64_MIN : period->pss;
    row->failed = serve->requests - answered;
    if (serve->crash_number < 0) {
        return;
    }
    row->lost = row->failed;
    row->dead_tasks = shared->dead_tasks;
    row->whole_again = serve->design->connection_dies_alone && shared->dead_tasks > 0 ? 0 : INT64_MIN;
    for (int i = 0; i < serve->workers && shared->crash_ticks != 0; i++) {
        uint64_t ready = shared->slots[i].ready_ticks;
        if (ready > shared->crash_ticks) {
            row->whole_again = clock_ns((int64_t)(ready - shared->crash_ticks));
        }
    }
}

void serve_fill_rows(const struct serve *serve, const struct serve_period *period, struct serve_row *rows) {
    int64_t answered = 0;
    bool timed_out = false;
    struct serve_row *first = NULL;
    for (int64_t i = 0; i < serve->requests; i++) {
        const struct serve_result *result = &serve->shared->results[i];
        struct serve_row *row = &rows[i];
        say_nothing(row);
        row->sample.before = ticks_of(serve, result->intended);
        row->sample.cpu_before = row->sample.cpu_after = row->sample.cpu_child = -1;
        row->sample.error = (int16_t)result->error;
        if (result->error == 0) {
            row->latency = (double)result->latency;
        }
        row->served = result->served;
        row->late = result->late;
        answered += result->error == 0;
        timed_out = timed_out || result->error == ETIMEDOUT;
        first = first == NULL && result->error == 0 ? row : first;
    }
    if (first != NULL) {
        fill_whole(serve, period, answered, timed_out, first);
    }
}

void serve_fail_rows(const struct serve *serve, int error, struct serve_row *rows) {
    for (int64_t i = 0; i < serve->requests; i++) {
        say_nothing(&rows[i]);
        rows[i].sample.before = ticks_of(serve, 0);
        rows[i].sample.cpu_before = rows[i].sample.cpu_after = rows[i].sample.cpu_child = -1;
        rows[i].sample.error = (int16_t)-error;
    }
}
