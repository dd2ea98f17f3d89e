/* Notes of wake-ups are read in order, over the end of the ring, and only when they are whole. */
#include <linux/bpf.h>
#include <string.h>

#include "census/wakes.h"
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
    struct wake wake;
    uint64_t read = 0;
    CHECK(!wakes_take(ring, RING, &read, 0, &wake), "nothing is there");
    put(ring, 0, 24, 5, (UINT64_C(70) << 32) + 71, (UINT64_C(80) << 32) + 81);
    CHECK(wakes_take(ring, RING, &read, NOTE, &wake) && read == NOTE, "one");
    CHECK(wake.time_ns == 5 && wake.waker == 71 && wake.woken == 81, "tasks, not processes");
    put(ring, 32, 24 | BPF_RINGBUF_DISCARD_BIT, 6, 1, 2);
    put(ring, 64, 24, 7, 3, 4);
    CHECK(wakes_take(ring, RING, &read, 96, &wake) && wake.time_ns == 7 && read == 96, "one is left out");
    put(ring, 96, 24 | BPF_RINGBUF_BUSY_BIT, 8, 5, 6);
    CHECK(!wakes_take(ring, RING, &read, 128, &wake) && read == 96, "one that is being written waits");
    put(ring, 96, 24, 8, 5, 6);
    put(ring, 128, 24, 9, 7, 8);
    CHECK(wakes_take(ring, RING, &read, 160, &wake) && wake.waker == 5, "it is whole now");
    CHECK(wakes_take(ring, RING, &read, 160, &wake) && wake.waker == 7 && read == 160,
          "the ring begins again");
    CHECK(!wakes_take(ring, RING, &read, 160, &wake), "all are read");
    return 0;
}
