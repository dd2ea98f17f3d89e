#include "census/notes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "events/assemble.h"
#include "events/bpf.h"

int notes_open(struct notes *notes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int error = bpf_open_map(&notes->map, BPF_MAP_TYPE_RINGBUF, 0, 0, NOTES_RING_BYTES);
    error = error != 0 ? error : bpf_open_map(&notes->losses, BPF_MAP_TYPE_ARRAY, 4, 8, 1);
    if (error != 0) {
        return error;
    }
    void *ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, notes->map, 0);
    notes->read = ours != MAP_FAILED ? ours : NULL;
    void *ring =
        mmap(NULL, page + 2 * (size_t)NOTES_RING_BYTES, PROT_READ, MAP_SHARED, notes->map, (off_t)page);
    notes->ring = ring != MAP_FAILED ? ring : NULL;
    return notes->read == NULL || notes->ring == NULL ? -ENOMEM : 0;
}

void notes_close(struct notes *notes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (notes->read != NULL) {
        munmap(notes->read, page);
    }
    if (notes->ring != NULL) {
        munmap(notes->ring, page + 2 * (size_t)NOTES_RING_BYTES);
    }
    if (notes->map >= 0) {
        close(notes->map);
    }
    if (notes->losses >= 0) {
        close(notes->losses);
    }
    *notes = (struct notes)NOTES_CLOSED;
}

void notes_count_loss(struct writer *to, const struct notes *notes) {
    size_t sent = jump_constant(to, BPF_JEQ, 0, 0);
    load_map(to, 1, BPF_PSEUDO_MAP_VALUE, notes->losses);
    with_constant(to, BPF_MOV, 2, 1);
    add_at_once(to, 1, 0, 2, false);
    land(to, sent);
}

uint64_t notes_lost(const struct notes *notes) {
    uint32_t key = 0;
    uint64_t lost = 0;
    union bpf_attr attributes = {.map_fd = (uint32_t)notes->losses,
                                 .key = (uint64_t)(uintptr_t)&key,
                                 .value = (uint64_t)(uintptr_t)&lost};
    return notes->losses >= 0 && bpf_call(BPF_MAP_LOOKUP_ELEM, &attributes) == 0 ? lost : 0;
}

bool notes_take(const unsigned char *ring, size_t ring_bytes, uint64_t *read, uint64_t written, void *note,
                size_t bytes) {
    enum { HEAD_BYTES = 8 };
    while (*read < written) {
        const unsigned char *at = ring + (*read & (ring_bytes - 1));
        /* Two bits of a note's length say that it is being written, or not to be read. */
        uint32_t length = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
        uint32_t note_bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        if ((length & BPF_RINGBUF_BUSY_BIT) != 0) {
            return false;
        }
        *read += (HEAD_BYTES + (uint64_t)note_bytes + 7) / 8 * 8;
        if ((length & BPF_RINGBUF_DISCARD_BIT) == 0 && note_bytes == bytes) {
            memcpy(note, at + HEAD_BYTES, bytes);
            return true;
        }
    }
    return false;
}

bool notes_next(struct notes *notes, void *note, size_t bytes) {
    if (notes->ring == NULL) {
        return false;
    }
    uint64_t read = *notes->read;
    uint64_t written = __atomic_load_n((const uint64_t *)notes->ring, __ATOMIC_ACQUIRE);
    const unsigned char *ring = (const unsigned char *)notes->ring + sysconf(_SC_PAGESIZE);
    bool taken = notes_take(ring, NOTES_RING_BYTES, &read, written, note, bytes);
    __atomic_store_n(notes->read, read, __ATOMIC_RELEASE);
    return taken;
}
