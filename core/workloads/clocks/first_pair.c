/* clock.first_pair
 * Timed: by a fresh program, from the first reading of a clock in its main to the second, in that clock's own
 * ns. Outside: the program's start, which is not even timed, and how the difference comes back.
 * Bias: the first reading pays before its counter is read for what was never touched, the second after it, so
 * that a part of what a first reading costs is seen, not all of it. The programs are optimised (-O2) and
 * bound at start; without optimisation std::chrono adds calls of its own. Source: clock_gettime(2), vdso(7);
 * sysel-2020, whose figures for a reading are such pairs.
 */
#include <errno.h>
#include <unistd.h>

#include "targets/pair.h"
#include "workloads/launch/launch.h"

_Static_assert(offsetof(struct stamps, extra_ticks) == PAIR_OFFSET,
               "the programs write their difference straight into the stamp page");

struct pair_row {
    struct launch_row launch; /* what reaping fills; none of it is sent */
    int64_t apart_ns;
};

static const char *const COMMANDS[] = {
    [READ_CLOCK_REALTIME] = "target_pair:realtime",
    [READ_CLOCK_MONOTONIC] = "target_pair:monotonic",
    [READ_CLOCK_PROCESS_CPUTIME] = "target_pair:process_cputime",
    [READ_CLOCK_CHRONO] = "target_pair_cxx",
};

/* On the heap: nothing here copies memory that the program's words could be part of. */
static int prepare(struct bench *bench, struct reason *reason) {
    bench->program = malloc(sizeof *bench->program);
    if (bench->program == NULL) {
        return -ENOMEM;
    }
    return launch_prepare_command(bench, COMMANDS[bench->request->read_clock], reason);
}

static int launch(const struct bench *bench, struct sample *sample) {
    bench->stamps->extra_ticks = (uint64_t)INT64_MIN;
    launch_before(sample);
    pid_t pid = vfork();
    if (pid == 0) {
        execve(bench->program->path, bench->program->arguments, environ);
        bench->stamps->child_error = errno;
        _exit(127);
    }
    int error = pid < 0 ? -errno : launch_reap(bench, pid, sample);
    int64_t apart_ns = (int64_t)bench->stamps->extra_ticks;
    ((struct pair_row *)(void *)sample)->apart_ns = apart_ns;
    return error == 0 && apart_ns == INT64_MIN ? -ENODATA : error;
}

static void finish(struct bench *bench) {
    free(bench->program);
}

static const struct column COLUMNS[] = {
    {"pair_ns", COLUMN_NS, offsetof(struct pair_row, apart_ns), NULL,
     "from the first reading of a fresh program to the second"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const AXES[] = {AXES_MACHINE, "read_clock", NULL};

const struct workload clock_first_pair = {
    .id = "clock.first_pair",
    .family = "clock",
    .summary = "the first two readings of a clock in a fresh program",
    .answers.columns = COLUMNS,
    .axes = AXES,
    ROWS_OF_LAUNCHES(pair_row),
    .prepare = prepare,
    .launch = launch,
    .finish = finish,
};
