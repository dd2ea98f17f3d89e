#include "probe/crew/crew.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "probe/crew/inside.h"

size_t crew_bytes(const struct request *request) {
    return request->concurrency == 1
               ? 0
               : sizeof(struct crew) + (size_t)request->concurrency * sizeof(struct launcher);
}

/* What all need together; each launcher asks for its own part once more when it builds it. */
static int check_limits(const struct request *request, struct reason *reason) {
    struct limits_need need;
    parent_need(request, &need);
    int64_t copies = request->launchers == LAUNCHERS_PROCESSES ? request->concurrency : 1;
    need.memory_bytes *= copies;
    need.commit_bytes *= copies;
    need.locked_bytes *= copies;
    need.files *= copies;
    need.huge_pages *= copies;
    need.tasks = copies * request->parent_threads + 2 * request->concurrency + 1;
    return limits_check("", &need, reason);
}

static int check_sense(const struct request *request, struct reason *reason) {
    bool first = request->pages == PAGES_FIRST && (request->parent_bytes > 0 || request->vmas > 0);
    if (request->launchers == LAUNCHERS_THREADS && first) {
        return reason_set(reason, -EOPNOTSUPP,
                          "threads share their memory: what one has forked is no longer pages=first for "
                          "another; ask for launchers=processes");
    }
    return 0;
}

static int first_error(const struct crew *crew, struct reason *reason) {
    for (int i = 0; i < crew->started; i++) {
        const struct launcher *launcher = &crew->launchers[i];
        if (launcher->error != 0) {
            *reason = launcher->reason;
            return launcher->error;
        }
    }
    return 0;
}

static int died(struct reason *reason) {
    return reason_set(reason, -ECHILD, "a launcher process died: was it killed, or did memory run out?");
}

int crew_start(struct crew *crew, struct measurement *measurement, struct reason *reason) {
    const struct request *request = measurement->bench.request;
    int error = check_sense(request, reason);
    error = error != 0 ? error : check_limits(request, reason);
    if (error != 0) {
        return error;
    }
    crew->measurement = measurement;
    crew->count = (int)request->concurrency;
    for (int i = 0; i < crew->count; i++) {
        crew->launchers[i].crew = crew;
        crew->launchers[i].number = i;
    }
    if (request->launchers == LAUNCHERS_THREADS) {
        error = parent_build(&measurement->bench, reason);
    }
    if (error != 0) {
        return error;
    }
    error = crew_start_tasks(crew, reason);
    if (crew_await(crew, &crew->ready, (uint32_t)crew->started) != 0) {
        error = died(reason);
    }
    error = error != 0 ? error : first_error(crew, reason);
    if (error != 0) {
        crew_end(crew);
        parent_end(&measurement->bench);
    }
    return error;
}

/* Gives the order that stands in `crew->order` and waits until all have obeyed. */
static int command(struct crew *crew, struct reason *reason) {
    crew->finished = 0;
    crew->orders++;
    gate_open(&crew->gate);
    int error = crew_await(crew, &crew->done, crew->orders * (uint32_t)crew->count);
    if (error != 0) {
        crew_reap(crew, true);
        return died(reason);
    }
    return first_error(crew, reason);
}

int crew_forget(struct crew *crew, const struct workload *workload, int64_t launches, bool limited,
                struct reason *reason) {
    crew->order =
        (struct order){.kind = ORDER_FORGET, .workload = workload, .launches = launches, .limited = limited};
    return command(crew, reason);
}

/* Moves the launchers' rows together, since those that met the time limit left some of their room free. */
static void gather(struct crew *crew, struct block *block, int64_t rows) {
    const struct workload *workload = crew->measurement->bench.request->workload;
    block->rows = 0;
    for (int i = 0; i < crew->count; i++) {
        const struct launcher *launcher = &crew->launchers[i];
        memmove(rows_at(workload, block->samples, block->rows), rows_at(workload, block->samples, i * rows),
                (size_t)launcher->rows * workload->rows.bytes);
        block->rows += launcher->rows;
    }
}

int crew_measure(struct crew *crew, struct block *block, int64_t rows, struct reason *reason) {
    bool processes = crew->measurement->bench.request->launchers == LAUNCHERS_PROCESSES;
    struct usage before;
    struct usage after;
    crew->order = (struct order){.kind = ORDER_FACTS, .block = block};
    int error = command(crew, reason);
    if (error != 0) {
        return error;
    }
    crew->order = (struct order){.kind = ORDER_MEASURE, .launches = rows, .block = block};
    usage_read(&before);
    int64_t wall_start = rows_monotonic_ns();
    block->start_ticks = clock_read().ticks;
    error = command(crew, reason);
    block->wall_ns = rows_monotonic_ns() - wall_start;
    usage_read(&after);
    if (error != 0) {
        return error;
    }
    if (!processes) {
        usage_add(&block->usage, &before, &after);
    }
    for (int i = 0; processes && i < crew->count; i++) {
        usage_add(&block->usage, &(struct usage){0}, &crew->launchers[i].usage);
    }
    gather(crew, block, rows);
    return 0;
}

void crew_end(struct crew *crew) {
    crew->order = (struct order){.kind = ORDER_END};
    gate_open(&crew->gate);
    crew_reap(crew, false);
}
