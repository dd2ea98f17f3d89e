/* Notes that programs in the kernel write to a ring (BPF_MAP_TYPE_RINGBUF, Linux 5.8). */
#ifndef CLONOMETER_CENSUS_NOTES_H
#define CLONOMETER_CENSUS_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOTES_RING_BYTES = 1 << 20, NOTES_MOST_BYTES = 64 };

struct notes {
    int map;
    int losses;     /* map: one number, of notes for which there was no room */
    uint64_t *read; /* a page: how far we have read */
    void *ring;     /* a page: how far is written; then the notes, twice in a row */
};

#define NOTES_CLOSED {.map = -1, .losses = -1}

/* 0 or -errno; what was opened is closed by notes_close. */
int notes_open(struct notes *notes);
void notes_close(struct notes *notes);

struct writer; /* events/assemble.h */

/* Part of a program, behind the call that writes a note: counts one for which there was no room. Uses
 * registers 1 and 2. */
void notes_count_loss(struct writer *to, const struct notes *notes);
uint64_t notes_lost(const struct notes *notes);

/* Copies the next note of this length; whether there is one. Others are passed over. */
bool notes_next(struct notes *notes, void *note, size_t bytes);

/* The same of a ring in memory, `ring_bytes` long (a power of two) and there twice in a row: moves `*read`
 * towards `written`. Pure. */
bool notes_take(const unsigned char *ring, size_t ring_bytes, uint64_t *read, uint64_t written, void *note,
                size_t bytes);

#endif
