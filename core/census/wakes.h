/* Who is woken out of vfork, noted by programs in the kernel (bpf(2)): of all tasks that are made runnable on
 * the machine only those that wait for their children since they have asked with CLONE_VFORK. A record of
 * every wake-up (RINGS_WAKING) would tell it as well, but makes two programs that wake each other half as
 * slow again. Needs CAP_BPF and CAP_PERFMON, or root, and Linux 5.8. Everything goes when its descriptors are
 * closed. */
#ifndef CLONOMETER_CENSUS_WAKES_H
#define CLONOMETER_CENSUS_WAKES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "census/notes.h"

enum { WAKES_PROGRAMS = 3 };

struct wakes {
    int asking;  /* map: tasks that are making a child for which they will wait */
    int waiting; /* map: those that wait, by the address under which the kernel knows them */
    struct notes notes;
    int attached[WAKES_PROGRAMS];
};

#define WAKES_CLOSED {.asking = -1, .waiting = -1, .notes = NOTES_CLOSED, .attached = {-1, -1, -1}}

/* Who is made runnable by whom, as the kernel numbers tasks; on CLOCK_MONOTONIC. */
struct wake {
    uint64_t time_ns;
    int32_t waker;
    int32_t woken;
};

/* 0, or -errno, and then nothing is open. */
int wakes_open(struct wakes *wakes);

/* The next note; whether there is one. */
bool wakes_next(struct wakes *wakes, struct wake *wake);

void wakes_close(struct wakes *wakes);

#endif
