/* A census: which tasks does a program make? */
#ifndef CLONOMETER_CENSUS_H
#define CLONOMETER_CENSUS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/reason.h"
#include "census/cgroups.h"
#include "census/family.h"
#include "census/sites.h"
#include "events/gated.h"

enum { CENSUS_MOST_PROCESSES = 65536 };

struct census {
    char **command;  /* NULL: the process `pid`, which runs already, and all below it */
    int64_t most_ns; /* how long to watch; 0: until it ends */
    size_t ring_bytes;
    const char *cgroup; /* HIERARCHY:PATH, of control groups that are watched (cgroups.h); NULL: none are */
    const struct cgroups *cgroups;
    size_t cgroups_told;
    uint64_t unplaced;
    struct sites *sites;   /* call sites; NULL: none are asked for */
    char *debuginfod_urls; /* that the command knows and we do not; NULL: there is nothing to hide */
    pid_t pid;             /* of the command, when it has been started; signals go by `gated` */
    struct gated gated;    /* the command */
    int answer;
    /* What came of it. */
    const char *how; /* "tracepoints" or "ptrace" */
    uint64_t lost;
    uint64_t unread; /* tasks that were left out of the answer, since nobody read it */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t ending_ns;         /* when the command was told to end; 0: it was not */
    struct roots *asked_to_end; /* who was told to end */
    int64_t own_faults; /* of the process `pid` that runs already; -1: not known, or no such is watched */
    int exit_status;    /* of the command, as a shell tells it; -1 where none was waited for */
    int not_started;    /* errno of its exec; 0: it was executed */
    unsigned grown;     /* how often a CPU's room for events was made larger, since it was nearly full */
    unsigned looks;     /* since it was told to end, at who is there */
    pid_t group;        /* of processes, which the command is in and this program as well */
    char without[512];  /* why not by a better way; "" where there is none */
    char without_stacks[512]; /* why there are no call sites; "" where there is nothing to say */
    char without_calls[512];  /* why it is not known what children do; "" where there is nothing to say */
    char without_usage[512];  /* why it is not known what tasks used; "" where there is nothing to say */
    char unprivileged[CENSUS_PATH_BYTES]; /* the first program that ran without its privileges; "": none */
    bool debuginfod;                      /* asked for: debug information may be had from servers */
    bool stacks;                          /* asked for: call sites */
    bool calls;                           /* asked for: what children do before their exec */
    bool until_all_end;                   /* asked for: go on until all that it has made has ended as well */
    bool timed_out;
    bool interrupted;
    bool outlived; /* it has ended, and what it has made lives on and is watched */
};

/* Which servers libdw asks for debug information. */
#define DEBUGINFOD_URLS "DEBUGINFOD_URLS"

/* Each watches until the program has ended, the time is over, or a signal ends it. 0, or -errno with the
 * reason, and then the command has not run. */
int census_by_tracepoints(struct census *census, struct family **family, struct reason *reason);

/* Stops listening for good. The kernel takes a while for that: after the answer. */
void census_forget(void);

int census_by_ptrace(struct census *census, struct family **family, struct reason *reason);

/* Starts the command, which waits for its release. 0 or -errno. */
int command_start(struct census *census);
/* Lets it begin, unless somebody has asked the census to end by now: then it is never to. 0 or -errno. */
int command_release(struct census *census);
/* Whether it has ended, and how; waits for whoever else has become ours and has ended, too. */
bool command_ended(struct census *census);
void command_note(struct census *census, int status); /* of a wait that has seen its end */
/* Kills it and waits for it, unless it has been waited for. */
void command_kill(struct census *census);

/* Whether the census is over, where the program itself has `ended` or not; ends a command whose time is. */
bool census_over(struct census *census, struct family *family, bool ended);
uint64_t census_now_ns(void);

/* Writes a line of the answer; is a census_tell. */
void tell_task(void *census, const struct census_task *task);
int tell_begin(const struct census *census);
/* Each call site, with names (symbols.c). */
void tell_sites(const struct census *census);
int tell_outlived(const struct census *census, uint64_t alive);
int tell_end(const struct census *census, const struct census_totals *totals, const char *reason);

#endif
