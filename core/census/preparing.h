/* What a child does between its creation and its exec: the system calls by which it shows with which options
 * it was started. Programs in the kernel (bpf(2)) note them, of the tasks of the family alone: of a process
 * of any other program, a call that is asked for costs a look into a table, and all others nothing. Each
 * child's calls of one kind are counted; at most PREPARING_MOST_NOTES of a child are noted one by one,
 * descriptors that it closes and signal handlers that it sets only as counts. Needs CAP_BPF and CAP_PERFMON,
 * or root, and Linux 5.8. Everything goes when its descriptors are closed. */
#ifndef CLONOMETER_CENSUS_PREPARING_H
#define CLONOMETER_CENSUS_PREPARING_H

#include <sys/types.h>

#include "base/reason.h"
#include "census/notes.h"

enum { PREPARING_MOST_CALLS = 40, PREPARING_MOST_NOTES = 48 };

/* A call that is looked for: by its number, and where that does not say enough by its first argument. */
struct preparing_call {
    const char *name;
    int64_t number;
    int64_t argument; /* -1: whatever it is */
};

/* Ended by a row without a name; a call's place in it is its kind. */
extern const struct preparing_call PREPARING_CALLS[];

/* The kind of a call; -1: none. Pure. */
int preparing_kind(int64_t number, uint64_t argument);

/* Three kinds of events, and two calls of which only the number of times matters. */
enum { PREPARING_MOST_ATTACHED = PREPARING_MOST_CALLS + 5 };

struct preparing {
    int members; /* map: tasks of the family */
    int young;   /* map: those of them that have been made and have not begun a program; what they did */
    struct notes notes;
    int attached[PREPARING_MOST_ATTACHED];
    int count;
};

#define PREPARING_CLOSED {.members = -1, .young = -1, .notes = NOTES_CLOSED}

/* What a child did, or, of kind PREPARING_DONE, that it has begun a program or left, and how much it did. */
enum { PREPARING_DONE = -1 };

struct preparing_note {
    uint64_t time_ns;
    int32_t task;
    int kind;
    uint64_t closes; /* of PREPARING_DONE */
    uint64_t handlers;
    bool cut; /* it did more than was noted, or for some of it there was no room */
};

/* Whether the kernel's numbers of tasks are those of our PID namespace. */
bool preparing_sees_numbers(void);

/* 0, or -errno with the reason, and then nothing is open. */
int preparing_open(struct preparing *preparing, struct reason *reason);

/* Makes a task one of the family, with all that it makes from here on. */
void preparing_follow(const struct preparing *preparing, pid_t task);

/* The next note; whether there is one. */
bool preparing_next(struct preparing *preparing, struct preparing_note *note);

void preparing_close(struct preparing *preparing);

#endif
