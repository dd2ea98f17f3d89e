/* Notes for which there was no room, since nobody has read the others, are counted: of each wake-up it is
 * known whether it was noted. */
#include <sys/wait.h>
#include <unistd.h>

#include "census/wakes.h"
#include "check.h"

/* More than there is room for: a note takes 32 bytes. */
enum { CALLS = NOTES_RING_BYTES / 32 + 2000 };

int main(void) {
    struct wakes wakes;
    struct wake wake;
    uint64_t noted = 0;
    int error = wakes_open(&wakes);
    if (error != 0) {
        fprintf(stderr, "%s\n", strerror(-error));
        return TEST_NOT_POSSIBLE;
    }
    CHECK(notes_lost(&wakes.notes) == 0, "nothing yet");
    for (int i = 0; i < CALLS; i++) {
        pid_t child = vfork();
        if (child == 0) {
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, NULL, 0) == child, "a child");
    }
    uint64_t lost = notes_lost(&wakes.notes);
    while (wakes_next(&wakes, &wake)) {
        noted += wake.woken == getpid();
    }
    CHECK(lost > 0 && noted > 0 && noted < CALLS, "%llu noted, %llu lost", (unsigned long long)noted,
          (unsigned long long)lost);
    /* Others on the machine may have lost some as well; a creator need not sleep, where the child ends first.
     */
    CHECK(noted + lost >= CALLS - CALLS / 50, "%llu noted, %llu lost", (unsigned long long)noted,
          (unsigned long long)lost);
    wakes_close(&wakes);
    return 0;
}
