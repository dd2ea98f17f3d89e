/* One start of the probe with somebody listening. */
#ifndef CLONOMETER_TRACER_LISTEN_H
#define CLONOMETER_TRACER_LISTEN_H

#include <sys/types.h>
#include <time.h>

#include "events/gated.h"
#include "events/rings.h"
#include "tracer/collect.h"
#include "tracer/fast.h"
#include "tracer/windows.h"

enum listen_how { LISTEN_NOT, LISTEN_OWN, LISTEN_ALL, LISTEN_PTRACE, LISTEN_FAST };

struct listening {
    enum listen_how how;
    unsigned wanted; /* RINGS_*, with LISTEN_ALL and LISTEN_FAST */
    size_t ring_bytes;
    uint64_t sample_period_ns;
    unsigned most_run;                  /* of page faults one after the other, with LISTEN_FAST; 0: all */
    const struct counter_set *counters; /* to be read at every event, with LISTEN_ALL; NULL: none */
    struct fast_marks marks;            /* with LISTEN_FAST */
    uint64_t window_ns; /* with LISTEN_FAST: listen for so long, then not, in turn; 0: all the time */
    bool tsc;           /* the probe stamps by the processor's time-stamp counter */
};

/* Growing bytes. */
struct bytes {
    unsigned char *data;
    size_t length;
    size_t room;
};

/* What came of it. */
struct heard {
    struct collection collection;
    struct bytes answer; /* the probe's own */
    char maps[65536];    /* of the probe's memory, when it had measured */
    const struct counter *counted[COUNTERS_MOST];
    size_t counters;
    char refused[COUNTERS_MOST][160]; /* of the set's counters why they are not; "": they are */
    uint64_t lost;                    /* there was no room for them */
    uint64_t missed;                  /* more room would not help */
    uint64_t whole[2]; /* between these times nothing was lost for want of room; 0: no such bound */
    char marks_refused[160];
    uint64_t left_out; /* page faults of runs longer than that */
    pid_t process;
    int32_t task; /* the probe as the kernel numbers it */
    int exit_status;
    struct windows windows;
    uint64_t pairs[2][2]; /* ticks of the probe's clock and ns of CLOCK_MONOTONIC, before and after */
};

/* Starts `arguments`, of which the word "{traced fd}" becomes a descriptor's number, and waits for its end.
 * 0, or -errno with the reason; then nothing was started, or it has been ended. */
int listen_to(const struct listening *listening, char **arguments, struct heard *heard,
              struct reason *reason);

/* Whether this machine allows to listen so: nothing is started. 0, or -errno with the reason. */
int listen_try(const struct listening *listening, struct reason *reason);

/* As listen_to, with every system call of every task of it stopped twice, which anybody may. */
int follow_calls(struct gated *gated, struct heard *heard, struct reason *reason);

int bytes_add(struct bytes *bytes, const void *data, size_t length);

#endif
