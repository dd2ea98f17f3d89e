/* Calls that show options are known by number and first argument, and a task is told with what it did. */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "census/family.h"
#include "check.h"

static struct census_did last;

static void tell(void *context, const struct census_task *task) {
    (void)context;
    last = task->did;
}

static void happen(struct family *family, int32_t task, int32_t kind, int64_t number, int64_t result,
                   uint64_t flags) {
    static uint64_t now_ns;
    const struct census_event event = {
        .time_ns = ++now_ns, .task = task, .kind = kind, .number = number, .result = result, .flags = flags};
    CHECK(family_take(family, &event) == 0, "taken");
}

int main(void) {
    struct census_totals totals;
    int kinds = 0;
    while (PREPARING_CALLS[kinds].name != NULL) {
        int kind = preparing_kind(PREPARING_CALLS[kinds].number, (uint64_t)PREPARING_CALLS[kinds].argument);
        CHECK(kind == kinds, "%s is %s", PREPARING_CALLS[kinds].name, PREPARING_CALLS[kind].name);
        kinds++;
    }
    CHECK(kinds < PREPARING_MOST_CALLS, "there is room for each: %d", kinds);
    int name = preparing_kind(SYS_prctl, PR_SET_NAME);
    CHECK(strcmp(PREPARING_CALLS[name].name, "prctl(PR_SET_NAME)") == 0, "by its option");
    CHECK(strcmp(PREPARING_CALLS[preparing_kind(SYS_prctl, 999)].name, "prctl") == 0, "another option");
    CHECK(preparing_kind(SYS_getpid, 0) == -1, "a call that shows nothing");
    struct family *family = family_new(0, tell, NULL);
    CHECK(family != NULL && family_adopt(family, 10, "") == 0, "a family");
    happen(family, 10, CENSUS_NEW_TASK, 11, SYS_clone, 0);
    happen(family, 11, CENSUS_DID, name, 0, 0);
    happen(family, 11, CENSUS_DID, name, 0, 0);
    happen(family, 99, CENSUS_DID, name, 0, 0);
    happen(family, 11, CENSUS_PREPARED, 200, 3, 1);
    happen(family, 11, CENSUS_EXIT, 0, 0, 0);
    CHECK(last.known && last.cut && last.times[name] == 2 && last.closes == 200 && last.handlers == 3,
          "told");
    happen(family, 10, CENSUS_NEW_TASK, 12, SYS_clone, 0);
    happen(family, 12, CENSUS_DID, name, 0, 0);
    family_end(family, 100, &totals);
    CHECK(!last.known, "what is not told whole is not known");
    family_free(family);
    return 0;
}
