/* What the starting task and the launchers share. All of it lies in the arena. */
#ifndef CLONOMETER_CREW_INSIDE_H
#define CLONOMETER_CREW_INSIDE_H

#include <pthread.h>
#include <sys/types.h>

#include "probe/crew/crew.h"
#include "probe/rows.h"
#include "workloads/gate/gate.h"
#include "workloads/launch/launch.h"

enum order_kind { ORDER_FACTS, ORDER_FORGET, ORDER_MEASURE, ORDER_END };

struct order {
    enum order_kind kind;
    const struct workload *workload; /* of ORDER_FORGET */
    int64_t launches;
    bool limited;
    struct block *block;
};

struct launcher {
    struct program_row scrap; /* the longest row of a workload that several launch at once */
    struct crew *crew;
    int number;
    pthread_t thread;
    pid_t pid; /* 0: a thread, or a process that has gone */
    int64_t rows;
    struct usage usage;
    int error;
    struct reason reason;
};

struct crew {
    struct gate gate; /* opened once for each order */
    struct tally ready;
    struct tally done;
    uint32_t finished; /* launchers that have all samples of this order */
    uint32_t orders;
    struct order order;
    struct measurement *measurement;
    int count;
    int started;
    struct launcher launchers[];
};

/* Starts all. 0, or -errno with the reason; `started` says how many there are. */
int crew_start_tasks(struct crew *crew, struct reason *reason);

/* Waits until the count is reached. 0, or -ECHILD if a launcher process died before. */
int crew_await(struct crew *crew, struct tally *tally, uint32_t count);

/* Waits for the ends of all that were started; `kill_them`: processes are not asked. */
void crew_reap(struct crew *crew, bool kill_them);

/* What a launcher does until it is ended. */
void crew_serve(struct launcher *self);

#endif
