/* Notes of programs in the kernel are read in order, over the end of the ring, and only when they are whole.
 */
#include <linux/bpf.h>
#include <string.h>

#include "census/notes.h"
#include "check.h"

enum { RING = 128, NOTE = 32 };

/* As the kernel writes one, at `at` of a ring that is there twice. */
static void put(unsigned char *ring, uint64_t at, uint32_t length, uint64_t time_ns, uint64_t waker,
                uint64_t woken) {
    const uint64_t words[3] = {time_ns, waker, woken};
    unsigned char note[NOTE] = {0};
    memcpy(note, &length, sizeof length);
    memcpy(note + 8, words, sizeof words);
    for (size_t i = 0; i < NOTE; i++) {
        ring[(at + i) % RING] = ring[(at + i) % RING + RING] = note[i];
    }
}

int main(void) {
    _Alignas(8) unsigned char ring[2 * RING] = {0};
    uint64_t note[3];
    uint64_t read = 0;
    CHECK(!notes_take(ring, RING, &read, 0, note, sizeof note), "nothing is there");
    put(ring, 0, 24, 5, (UINT64_C(70) << 32) + 71, (UINT64_C(80) << 32) + 81);
    CHECK(notes_take(ring, RING, &read, NOTE, note, sizeof note) && read == NOTE, "one");
    CHECK(note[0] == 5 && (uint32_t)note[1] == 71 && (uint32_t)note[2] == 81, "as it was written");
    put(ring, 32, 24 | BPF_RINGBUF_DISCARD_BIT, 6, 1, 2);
    put(ring, 64, 24, 7, 3, 4);
    CHECK(notes_take(ring, RING, &read, 96, note, sizeof note) && note[0] == 7 && read == 96,
          "one is left out");
    put(ring, 96, 24 | BPF_RINGBUF_BUSY_BIT, 8, 5, 6);
    CHECK(!notes_take(ring, RING, &read, 128, note, sizeof note) && read == 96,
          "one that is being written waits");
    put(ring, 96, 24, 8, 5, 6);
    put(ring, 128, 24, 9, 7, 8);
    CHECK(notes_take(ring, RING, &read, 160, note, sizeof note) && note[1] == 5, "it is whole now");
    CHECK(notes_take(ring, RING, &read, 160, note, sizeof note) && note[1] == 7 && read == 160,
          "the ring begins again");
    CHECK(!notes_take(ring, RING, &read, 160, note, sizeof note), "all are read");
    return 0;
}
