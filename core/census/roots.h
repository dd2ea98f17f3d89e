/* The tasks that a census begins with, as our pid namespace numbers them. */
#ifndef CLONOMETER_CENSUS_ROOTS_H
#define CLONOMETER_CENSUS_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct roots;

struct roots *roots_new(void);
void roots_free(struct roots *roots);

/* 0 or -ENOMEM. */
int roots_add(struct roots *roots, pid_t task);

/* All threads of the process and of every process below it. 0, -ESRCH where there is none, or -ENOMEM. */
int roots_add_below(struct roots *roots, pid_t process);

/* Gives each process below one, as /proc tells; no threads. */
void roots_below(pid_t process, void (*meet)(void *context, pid_t process), void *context);

/* Gives each that was added and not removed. */
void roots_each(const struct roots *roots, void (*meet)(void *context, pid_t task), void *context);

void roots_remove(struct roots *roots, pid_t task);
bool roots_have(const struct roots *roots, pid_t task);

/* Whether one is left that still runs. */
bool roots_live(const struct roots *roots);

/* What tells a task from another that has its number later. */
struct root_facts {
    uint64_t began_ns; /* on CLOCK_MONOTONIC, to a hundredth of a second below */
    pid_t group;       /* of processes */
    bool ended;        /* nobody has waited for it yet */
};

/* Of whoever has this number now. False where /proc does not tell. */
bool roots_look(pid_t task, struct root_facts *facts);

/* What it runs; "" where that is not known, as of a command that has not begun yet. */
void roots_program(const struct roots *roots, pid_t task, char *path, size_t capacity);

#endif
