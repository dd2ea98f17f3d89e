/* What each task has used when it ends: CPU time, and page faults. A program in the kernel (bpf(2)) notes it
 * as the task is switched away from for the last time, when both are final: the tear-down of its memory is
 * part of them, as the time until then is of no other moment (the kernel brings a task's time up to date at
 * its switches). Of all tasks of the machine, whose ends are rarer than what else the census hears. Needs
 * CAP_BPF and CAP_PERFMON, or root, Linux 5.8, and a kernel that describes its structures (BTF). Everything
 * goes when its descriptors are closed. */
#ifndef CLONOMETER_CENSUS_USAGE_H
#define CLONOMETER_CENSUS_USAGE_H

#include <sys/types.h>

#include "base/reason.h"
#include "census/notes.h"

struct usage {
    struct notes notes;
    int attached;
};

#define USAGE_CLOSED {.notes = NOTES_CLOSED, .attached = -1}

/* As the kernel numbers tasks; on CLOCK_MONOTONIC. */
struct usage_note {
    uint64_t time_ns;
    int32_t task;
    int64_t cpu_ns; /* user and system */
    int64_t minor_faults;
    int64_t major_faults;
};

/* 0, or -errno with the reason, and then nothing is open. */
int usage_open(struct usage *usage, struct reason *reason);

/* The next note; whether there is one. */
bool usage_next(struct usage *usage, struct usage_note *note);

void usage_close(struct usage *usage);

/* The faults of a task that ptrace has stopped, as /proc tells. Its CPU time has what the stops take, and is
 * -1. False where it cannot be read. */
bool usage_of_stopped(pid_t task, struct usage_note *note);

/* What a task that runs has used so far, as /proc tells; its CPU time is -1 where the kernel does not count
 * it so finely. False where it cannot be read. */
bool usage_so_far(pid_t task, struct usage_note *note);

/* The page faults of a process until now, of all its threads; -1 where they cannot be read. */
int64_t usage_faults_of(pid_t process);

/* The faults in the text of /proc/PID/stat. False where it is something else. Pure. */
bool usage_faults(const char *stat, int64_t *minor_faults, int64_t *major_faults);

#endif
