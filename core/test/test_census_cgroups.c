/* Control groups have a number a path, those that are not watched have none; and a task counts in the group
 * in which its creator was when it made it. */
#include <string.h>
#include <sys/syscall.h>

#include "base/clone.h"
#include "census/cgroups.h"
#include "census/family.h"
#include "census/placing.h"
#include "check.h"

enum { MOST_TOLD = 8 };

static const char TEXT[] = "9:name=systemd:/a:b\n4:memory:/m\n0::/system.slice/x.service\n";

static void check_lines(void) {
    size_t length = 0;
    const char *path = cgroups_line(TEXT, 0, &length);
    CHECK(path != NULL && length == 23 && memcmp(path, "/system.slice/x.service", length) == 0, "version 2");
    path = cgroups_line(TEXT, 9, &length);
    CHECK(path != NULL && length == 4 && memcmp(path, "/a:b", length) == 0, "a colon in its name");
    CHECK(cgroups_line(TEXT, 5, &length) == NULL, "no such hierarchy");
    CHECK(cgroups_line("", 0, &length) == NULL && cgroups_line("nonsense\n0", 0, &length) == NULL, "no line");
}

static int32_t number(struct cgroups *cgroups, const char *path) {
    return cgroups_number(cgroups, path, strlen(path));
}

static void check_numbers(void) {
    struct cgroups cgroups;
    struct reason reason = {""};
    CHECK(cgroups_open(&cgroups, "nonsense", &reason) < 0 && reason.text[0] != '\0',
          "refused with the reason");
    cgroups_close(&cgroups);
    CHECK(cgroups_open(&cgroups, "0:/a", &reason) == 0, "opened");
    CHECK(number(&cgroups, "/a") == 0 && number(&cgroups, "/a/b") == 1, "it and what is below");
    CHECK(number(&cgroups, "/ab") == CGROUP_OUTSIDE && number(&cgroups, "/") == CGROUP_OUTSIDE, "not others");
    CHECK(number(&cgroups, "/a/b") == 1 && cgroups.count == 2, "a number each");
    cgroups_close(&cgroups);
    CHECK(cgroups_open(&cgroups, "0:/", &reason) == 0 && number(&cgroups, "/ab") == 0, "all");
    for (int i = 0; i < CGROUPS_MOST; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%d", i);
        (void)number(&cgroups, path);
    }
    CHECK(cgroups.full && number(&cgroups, "/more") == CGROUP_UNKNOWN && number(&cgroups, "/1") == 2,
          "bounded");
    cgroups_close(&cgroups);
}

struct report {
    struct census_task tasks[MOST_TOLD];
    int count;
};

static void tell(void *context, const struct census_task *task) {
    struct report *report = context;
    if (report->count < MOST_TOLD) {
        report->tasks[report->count++] = *task;
    }
}

static void follow(void *context, pid_t task) {
    *(pid_t *)context = task;
}

static struct placing placing;
static struct family *family;

static void happen(uint64_t time_ns, int32_t task, int32_t kind, int64_t number, uint64_t flags,
                   char *group) {
    struct census_event event = {
        .time_ns = time_ns, .task = task, .kind = kind, .number = number, .flags = flags, .more = group};
    event.result = kind == CENSUS_NEW_TASK ? CENSUS_UNKNOWN : 0;
    CHECK(placing_before(&placing, family, &event) == 0 && family_take(family, &event) == 0, "taken");
    placing_after(&placing, family, &event);
}

/* Made and gone, by a task in a call of its own. */
static void make(uint64_t time_ns, int32_t maker, int32_t made) {
    happen(time_ns, maker, CENSUS_CALL, SYS_clone, 0, NULL);
    happen(time_ns + 1, maker, CENSUS_NEW_TASK, made, 0, NULL);
    happen(time_ns + 2, maker, CENSUS_RETURN, SYS_clone, 0, NULL);
    happen(time_ns + 3, made, CENSUS_EXIT, 0, 0, NULL);
}

/* Numbers that no task has: so /proc knows none of them. */
enum { STRANGER = 4100001, MOVED = 4100002, CHILD = 4100003, OTHER = 4100004 };

static void check_placing(void) {
    struct report report = {.count = 0};
    struct reason reason = {""};
    struct census_totals totals;
    pid_t followed = 0;
    CHECK(placing_open(&placing, "0:/no/such/group", &reason) == 0, "opened");
    placing_begin(&placing, follow, &followed);
    family = family_new(1, tell, &report);
    CHECK(followed == 0, "nobody is there");
    make(10, STRANGER, CHILD);
    CHECK(report.count == 0, "a stranger's tasks do not count");
    happen(20, STRANGER, CENSUS_MOVED, MOVED, 0, "/no/such/group/inner");
    make(30, MOVED, CHILD);
    CHECK(report.count == 1 && report.tasks[0].cgroup == 0, "those of who was moved in do");
    make(35, CHILD, OTHER);
    CHECK(report.count == 1, "the number of a task that has left is a stranger's");
    happen(40, MOVED, CENSUS_NEW_TASK, CHILD, TASK_INTO_CGROUP, NULL);
    make(50, MOVED, OTHER);
    CHECK(report.count == 2, "made without a call that was seen");
    happen(60, STRANGER, CENSUS_MOVED, MOVED, 0, "/elsewhere");
    make(70, MOVED, OTHER);
    CHECK(report.count == 2, "no more from outside");
    happen(80, CHILD, CENSUS_EXIT, 0, 0, NULL);
    CHECK(report.count == 3, "who was made inside is told, wherever it goes");
    family_end(family, 100, &totals);
    CHECK(totals.created == 3, "as many");
    family_free(family);
    placing_close(&placing);
}

int main(void) {
    check_lines();
    check_numbers();
    check_placing();
    return 0;
}
