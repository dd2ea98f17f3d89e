/* What a task used is tasks_seen with it: it is waited for when it comes after the end, and never in vain. */
#include <sys/syscall.h>
#include <unistd.h>

#include "census/family.h"
#include "census/usage.h"
#include "check.h"

static struct census_task last;
static int tasks_seen;

static void tell(void *context, const struct census_task *task) {
    (void)context;
    last = *task;
    tasks_seen++;
}

static void happen(struct family *family, uint64_t time_ns, int32_t task, int32_t kind, int64_t number,
                   int64_t result, uint64_t flags) {
    const struct census_event event = {
        .time_ns = time_ns, .task = task, .kind = kind, .number = number, .result = result, .flags = flags};
    CHECK(family_take(family, &event) == 0, "taken");
}

static void check_faults(void) {
    int64_t minor = -1;
    int64_t major = -1;
    CHECK(usage_faults("12 (a) b) S 1 2 3 4 5 6 417 8 9 10 11 12", &minor, &major), "a name with a bracket");
    CHECK(minor == 417 && major == 9, "%d %d", (int)minor, (int)major);
    CHECK(!usage_faults("12 (a", &minor, &major) && !usage_faults("12 (a) S 1", &minor, &major), "cut");
}

static void check_stopped(void) {
    struct usage_note note;
    CHECK(usage_of_stopped(getpid(), &note) && note.minor_faults > 0 && note.cpu_ns == -1, "our own faults");
    CHECK(!usage_of_stopped(-1, &note), "nobody");
    CHECK(usage_so_far(getpid(), &note) && note.minor_faults > 0 && note.cpu_ns > 0, "our own so far");
    CHECK(!usage_so_far(-1, &note) && usage_faults_of(-1) == -1, "nobody");
    CHECK(usage_faults_of(getpid()) >= note.minor_faults, "of the whole process");
}

static bool ask(void *context, pid_t task, struct census_event *used) {
    (void)context;
    *used = (struct census_event){.number = 100 + task, .result = 7};
    return task == 11;
}

/* Of those that still run: what is known so far is told with them, at the end. */
static void check_so_far(void) {
    struct census_totals totals;
    struct family *family = family_new(0, tell, NULL);
    CHECK(family != NULL && family_adopt(family, 10, "") == 0, "a family");
    const struct census_event call = {
        .time_ns = 1, .task = 10, .local_tid = 10, .kind = CENSUS_CALL, .number = SYS_clone};
    CHECK(family_take(family, &call) == 0, "its number here");
    happen(family, 2, 10, CENSUS_NEW_TASK, 11, SYS_clone, 0);
    family_ask(family, ask, NULL);
    CHECK(tasks_seen == 0, "not told before the end");
    family_end(family, 9, &totals);
    CHECK(tasks_seen == 1 && last.alive && last.cpu_ns == 111 && last.minor_faults == 7, "so far");
    family_free(family);
    tasks_seen = 0;
}

int main(void) {
    struct census_totals totals;
    struct family *family = family_new(0, tell, NULL);
    CHECK(family != NULL && family_adopt(family, 10, "") == 0, "a family");
    check_faults();
    check_stopped();
    check_so_far();

    /* Known before the end, as by ptrace: nothing is waited for. */
    happen(family, 1, 10, CENSUS_NEW_TASK, 11, SYS_clone, 0);
    happen(family, 2, 11, CENSUS_USED, 500, 7, 1);
    happen(family, 3, 11, CENSUS_EXIT, 0, 0, 0);
    CHECK(tasks_seen == 1 && last.cpu_ns == 500 && last.minor_faults == 7 && last.major_faults == 1,
          "before");

    family_expect_usage(family);
    happen(family, 4, 10, CENSUS_NEW_TASK, 12, SYS_clone, 0);
    happen(family, 5, 12, CENSUS_EXIT, 0, 0, 0);
    CHECK(tasks_seen == 1 && family_alive(family) == 1 && !family_has(family, 12),
          "it has left, and is waited for");
    happen(family, 6, 12, CENSUS_USED, 600, 8, 0);
    CHECK(tasks_seen == 2 && last.tid == 12 && last.cpu_ns == 600 && last.life_ns == 1, "after");
    happen(family, 6, 12, CENSUS_USED, 600, 8, 0);
    happen(family, 6, 99, CENSUS_USED, 600, 8, 0);
    CHECK(tasks_seen == 2, "once, and nothing of strangers");

    /* Its number is another task's before its note comes, which then is that one's. */
    happen(family, 7, 10, CENSUS_NEW_TASK, 13, SYS_clone, 0);
    happen(family, 8, 13, CENSUS_EXIT, 0, 0, 0);
    happen(family, 9, 10, CENSUS_NEW_TASK, 13, SYS_clone, 0);
    happen(family, 10, 13, CENSUS_EXIT, 0, 0, 0);
    CHECK(tasks_seen == 3 && last.cpu_ns == CENSUS_UNKNOWN && last.minor_faults == CENSUS_UNKNOWN,
          "the first one");
    happen(family, 11, 13, CENSUS_USED, 700, 9, 0);
    CHECK(tasks_seen == 4 && last.cpu_ns == 700, "the second one");

    /* A note that never comes. */
    const uint64_t later_ns = 10000000000;
    happen(family, 12, 10, CENSUS_NEW_TASK, 14, SYS_clone, 0);
    happen(family, 13, 14, CENSUS_EXIT, 0, 0, 0);
    happen(family, later_ns, 10, CENSUS_NEW_TASK, 15, SYS_clone, 0);
    happen(family, later_ns + 1, 15, CENSUS_EXIT, 0, 0, 0);
    CHECK(tasks_seen == 5 && last.tid == 14 && last.cpu_ns == CENSUS_UNKNOWN, "in vain");
    family_end(family, later_ns + 2, &totals);
    CHECK(tasks_seen == 6 && last.tid == 15 && totals.created == 6, "all at the end");
    family_free(family);
    return 0;
}
