/* The gate: nobody passes before it opens, everybody does afterwards, round after round, across processes. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "workloads/gate/gate.h"

enum { TASKS = 4, ROUNDS = 3 };

struct shared {
    struct gate gate;
    struct tally arrived;
    struct tally passed;
    struct tally ended;
};

int main(void) {
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED, "no shared memory");
    for (int task = 0; task < TASKS; task++) {
        if (fork() == 0) {
            for (uint32_t round = 1; round <= ROUNDS; round++) {
                tally_add(&shared->arrived);
                gate_pass(&shared->gate, round);
                tally_add(&shared->passed);
            }
            tally_add_of(&shared->ended, TASKS);
            _exit(0);
        }
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        CHECK(tally_await(&shared->arrived, TASKS * round, -1) == 0, "not all came");
        CHECK(tally_await(&shared->passed, TASKS * (round - 1) + 1, 20000000) == -ETIMEDOUT,
              "somebody passed the closed gate");
        CHECK(!gate_is_open(&shared->gate, round), "it is open");
        gate_open(&shared->gate);
        CHECK(tally_await(&shared->passed, TASKS * round, -1) == 0, "not all passed");
    }
    /* Without a time limit: the last one's wake-up alone ends this sleep. */
    CHECK(tally_await(&shared->ended, TASKS, -1) == 0, "the last did not wake who waits for all");
    for (int task = 0; task < TASKS; task++) {
        int status = 1;
        CHECK(wait(&status) > 0 && status == 0, "a task did not end well");
    }
    return 0;
}
