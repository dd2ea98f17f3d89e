/* Tasks that work beside this one for as long as a cell is measured, threads or processes: partners of a
 * switch or of an exchange. They sleep until this task wakes them, and they are all gone after team_end.
 *
 * A partner that dies would leave this task asleep for ever. Looking for that would be part of what is
 * measured, so nobody looks: the death of a process comes as SIGCHLD, which interrupts the sleep; should it
 * come just before the sleep begins, the alarm that its handler sets does, again and again. Whoever sleeps
 * asks team_over after each interruption. */
#ifndef CLONOMETER_TEAM_H
#define CLONOMETER_TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/workload.h"
#include "workloads/gate/gate.h"

enum {
    TEAM_LINE_BYTES = 128, /* two cache lines: processors fetch them in pairs */
    TEAM_MOST_TASKS = 4096
};

struct team;

struct team_member {
    _Alignas(TEAM_LINE_BYTES) struct team *team;
    int number; /* from 1: this task is 0 */
    int cpu;    /* that it binds itself to, or -1 */
    pthread_t thread;
    pid_t process; /* 0: a thread, or a process that has gone */
    pid_t task;    /* as the kernel numbers it */
    int error;     /* of its own preparation */
    struct reason reason;
};

struct team_duty {
    int (*prepare)(void *state, int number, struct reason *reason); /* in the member; may be NULL */
    void (*work)(void *state, int number);                          /* returns once team_over */
    void *state;                                                    /* in memory that the members share */
};

/* In memory that the members share. */
struct team {
    const struct bench *bench;
    struct team_duty duty;
    int members_wanted;
    int started;
    pid_t starter;
    _Alignas(TEAM_LINE_BYTES) uint32_t over; /* read by everybody, written once */
    _Alignas(TEAM_LINE_BYTES) struct tally ready;
    struct tally ended;
    struct team_member members[];
};

/* Starts `count` members by the request's task_kind, placed by its partner_cpu; all have prepared themselves
 * when it returns. 0, or -errno with the reason; then none is left. */
int team_start(const struct bench *bench, int count, const struct team_duty *duty, struct team **team,
               struct reason *reason);

/* Ends all members and gives their memory back. */
void team_end(struct team *team);

/* Whether work has an end: the members are to go, or one of them died. */
bool team_over(const struct team *team);

/* Sleeps until the word has another value than `seen`. 0, or -ECHILD once the team is over. */
int team_await_word(const struct team *team, uint32_t *word, uint32_t seen);

/* Whether memory of the members is reached by processes: what a futex must know. */
bool team_of_processes(const struct request *request);

/* The CPU of member `number` where all are pinned (0 is this task), or -1. */
int team_cpu(const struct bench *bench, int number);

/* What the kernel keeps of one member, rounded up. */
int64_t team_member_bytes(const struct request *request);

/* Maps memory of 4 KiB pages and writes it twice, since in a virtual machine the first touch costs more than
 * later ones. `shared`: processes forked later see what is written. 0 or -errno. */
int team_map(size_t length, bool shared, unsigned char **memory);

#endif
