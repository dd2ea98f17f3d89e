/* A team: all prepare themselves before it starts, and it ends although its members sleep; threads and
 * processes. A member that dies wakes whoever sleeps for it. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "check.h"
#include "workloads/team/team.h"

enum { MEMBERS = 5 };

struct state {
    struct tally prepared;
    uint32_t never;
    struct team *team;
    int fail;
};

static int prepare(void *shared, int number, struct reason *reason) {
    struct state *state = shared;
    tally_add(&state->prepared);
    return state->fail == number ? reason_set(reason, -ENOMEM, "number %d is meant to fail", number) : 0;
}

static void sleep_on(void *shared, int number) {
    struct state *state = shared;
    (void)number;
    while (state->team == NULL) {
        usleep(100);
    }
    CHECK(team_await_word(state->team, &state->never, 0) == -ECHILD, "it was woken for nothing");
}

static struct team *start(struct bench *bench, struct state *state, struct reason *reason) {
    struct team_duty duty = {.prepare = prepare, .work = sleep_on, .state = state};
    struct team *team = NULL;
    memset(state, 0, sizeof *state);
    int error = team_start(bench, MEMBERS, &duty, &team, reason);
    CHECK(error == 0, "%s", reason->text);
    state->team = team;
    return team;
}

int main(void) {
    struct state *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(state != MAP_FAILED, "no shared memory");
    struct request request = {.placement = PLACEMENT_FREE, .cpu = -1};
    struct sys_cpus affinity;
    struct reason reason = {""};
    CHECK(sys_allowed(&affinity) == 0, "the affinity cannot be read");
    struct bench bench = {.request = &request, .affinity = &affinity};
    for (int kind = TASK_KIND_THREAD; kind <= TASK_KIND_PROCESS; kind++) {
        request.task_kind = kind;
        struct team *team = start(&bench, state, &reason);
        CHECK(state->prepared.count == MEMBERS, "%u prepared themselves", state->prepared.count);
        CHECK(!team_over(team), "it is over before it began");
        team_end(team);
    }
    struct team *team = start(&bench, state, &reason);
    kill(team->members[MEMBERS - 1].process, SIGKILL);
    CHECK(team_await_word(team, &state->never, 0) == -ECHILD, "the death was not noticed");
    CHECK(team_over(team), "it goes on without one");
    team_end(team);
    /* A member that cannot prepare itself is a reason not to start. */
    memset(state, 0, sizeof *state);
    state->fail = 2;
    struct team_duty duty = {.prepare = prepare, .work = sleep_on, .state = state};
    CHECK(team_start(&bench, MEMBERS, &duty, &team, &reason) == -ENOMEM, "it started all the same");
    CHECK(strstr(reason.text, "number 2") != NULL, "the reason is: %s", reason.text);
    CHECK(team == NULL, "it is still there");
    return 0;
}
