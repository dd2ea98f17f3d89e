#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "probe/crew/inside.h"

static bool are_processes(const struct crew *crew) {
    return crew->measurement->bench.request->launchers == LAUNCHERS_PROCESSES;
}

/* Launcher i is bound to the i-th CPU below the first one's, round and round, so that launchers on a machine
 * with enough CPUs do run at the same time. */
static int place(const struct launcher *self, const struct bench *bench) {
    const struct request *request = bench->request;
    if (request->placement == PLACEMENT_FREE) {
        return 0;
    }
    int cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(bench->affinity);
    for (int skip = self->number % sys_cpu_count(bench->affinity); skip > 0; skip--) {
        do {
            cpu = cpu > 0 ? cpu - 1 : sys_highest_cpu(bench->affinity);
        } while (!sys_cpu_in(bench->affinity, cpu));
    }
    return sys_pin(cpu);
}

static int prepare(struct launcher *self, struct bench *bench) {
    const struct request *request = bench->request;
    bench->stamps_offset = self->number * STAMP_PAGE_BYTES;
    bench->stamps = (struct stamps *)((char *)bench->stamps + bench->stamps_offset);
    int error = place(self, bench);
    if (error != 0) {
        return reason_set(&self->reason, error, "launcher %d cannot be bound to its CPU: %s", self->number,
                          strerror(-error));
    }
    if (request->workload->prepare != NULL) {
        error = request->workload->prepare(bench, &self->reason);
    }
    if (error != 0 || !are_processes(self->crew)) {
        return error;
    }
    size_t shared = parent_shared_bytes(request);
    bench->parent.shared = (char *)bench->parent.shared + (size_t)self->number * shared;
    return parent_build(bench, &self->reason);
}

static int measure(struct launcher *self, struct bench *bench) {
    struct crew *crew = self->crew;
    const struct order *order = &crew->order;
    const struct workload *workload = bench->request->workload;
    struct sample *samples = rows_at(workload, order->block->samples, self->number * order->launches);
    struct usage before;
    struct usage after;
    usage_read(&before);
    int error = rows_measure(bench, samples, order->launches, &self->rows);
    usage_read(&after);
    self->usage = (struct usage){0};
    usage_add(&self->usage, &before, &after);
    for (int64_t i = 0; i < self->rows; i++) {
        rows_at(workload, samples, i)->launcher = (int16_t)self->number;
    }
    __atomic_add_fetch(&crew->finished, 1U, __ATOMIC_ACQ_REL);
    while (error == 0 && __atomic_load_n(&crew->finished, __ATOMIC_ACQUIRE) < (uint32_t)crew->count) {
        error = rows_forget(bench, workload, 1, false, &self->scrap.launch.sample);
    }
    return error;
}

static int obey(struct launcher *self, struct bench *bench) {
    struct measurement *measurement = self->crew->measurement;
    const struct order *order = &self->crew->order;
    switch (order->kind) {
    case ORDER_FACTS:
        if (self->number == 0) {
            parent_facts_read(&order->block->parent, measurement->scratch, measurement->scratch_bytes);
        }
        return 0;
    case ORDER_FORGET:
        return rows_forget(bench, order->workload, order->launches, order->limited,
                           &self->scrap.launch.sample);
    case ORDER_MEASURE:
        return measure(self, bench);
    default:
        return 0;
    }
}

void crew_serve(struct launcher *self) {
    struct crew *crew = self->crew;
    struct bench bench = crew->measurement->bench;
    struct program program; /* each its own: threads prepare theirs at the same time */
    bench.program = &program;
    self->error = prepare(self, &bench);
    bool prepared = self->error == 0;
    tally_add(&crew->ready);
    for (uint32_t round = 1;; round++) {
        gate_pass(&crew->gate, round);
        if (crew->order.kind == ORDER_END) {
            break;
        }
        self->error = obey(self, &bench);
        if (self->error != 0) {
            reason_set(&self->reason, self->error, "the parent's memory cannot be kept in its state: %s",
                       strerror(-self->error));
        }
        tally_add(&crew->done);
    }
    if (prepared && bench.request->workload->finish != NULL) {
        bench.request->workload->finish(&bench);
    }
    if (are_processes(crew)) {
        parent_end(&bench);
    }
}
