#include "census/placing.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clone.h"
#include "census/names.h"

enum { MOST_NUMBERS = 1 << 22 /* PID_MAX_LIMIT */, KNOWN_FROM = 3, DECIMAL = 10 };

int placing_open(struct placing *placing, const char *text, struct reason *reason) {
    *placing = (struct placing){.unplaced = 0};
    int error = cgroups_open(&placing->cgroups, text, reason);
    /* Untouched, they take no memory. */
    placing->before = calloc(MOST_NUMBERS, sizeof *placing->before);
    placing->stranger = calloc(MOST_NUMBERS, 1);
    if (error == 0 && (placing->before == NULL || placing->stranger == NULL)) {
        error = -ENOMEM;
    }
    return error;
}

void placing_close(struct placing *placing) {
    free(placing->before);
    free(placing->stranger);
    cgroups_close(&placing->cgroups);
    *placing = (struct placing){.before = NULL};
}

static bool is_number(int64_t task) {
    return task > 0 && task < MOST_NUMBERS;
}

static void note_threads(struct placing *placing, const char *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/task", process);
    DIR *folder = opendir(path);
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        pid_t task = (pid_t)strtol(entry->d_name, NULL, DECIMAL);
        if (!is_number(task)) {
            continue;
        }
        int32_t number = cgroups_of(&placing->cgroups, task);
        placing->before[task] = number + KNOWN_FROM;
        if (number != CGROUP_OUTSIDE) {
            placing->meet(placing->context, task);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

void placing_begin(struct placing *placing, placing_meet *meet, void *context) {
    placing->meet = meet;
    placing->context = context;
    placing->same_numbers = preparing_sees_numbers();
    DIR *folder = opendir("/proc");
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            note_threads(placing, entry->d_name);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

/* What makes tasks; others need not be known. */
static bool makes_tasks(const struct census_event *event) {
    return event->kind == CENSUS_STACK || census_makes_task(event);
}

static int32_t group_of(struct placing *placing, pid_t local_tid) {
    int32_t before = placing->same_numbers && is_number(local_tid) ? placing->before[local_tid] : 0;
    return before != 0 ? before - KNOWN_FROM : cgroups_of(&placing->cgroups, local_tid);
}

/* Makes a task one of the family, whose process may be unknown (0). 0 or -ENOMEM. */
static int adopt(struct placing *placing, struct family *family, int32_t task, int32_t process,
                 int32_t number) {
    char program[CENSUS_PATH_BYTES] = "";
    if (process > 0) {
        name_of_process(process, program, sizeof program);
    }
    int error = family_adopt(family, task, program);
    family_place(family, task, placing->same_numbers ? process : 0, number);
    placing->meet(placing->context, task);
    return error;
}

static int meet(struct placing *placing, struct family *family, const struct census_event *event) {
    int32_t number = group_of(placing, event->local_tid);
    bool watches_all = placing->cgroups.within[0] == '\0';
    placing->unplaced += number == CGROUP_UNKNOWN && !placing->cgroups.full;
    if (number == CGROUP_OUTSIDE || (number == CGROUP_UNKNOWN && !watches_all)) {
        placing->stranger[event->task] = 1;
        return 0;
    }
    return adopt(placing, family, event->task, event->process, number);
}

/* Where its other threads are may have changed as well: that is read when they make a task. */
static void forget_threads(struct placing *placing, pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = placing->same_numbers ? opendir(path) : NULL;
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        pid_t task = (pid_t)strtol(entry->d_name, NULL, DECIMAL);
        if (is_number(task)) {
            placing->before[task] = 0;
            placing->stranger[task] = 0;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

/* A task is moved into another group: with all threads of its process, of which one is told. It is known from
 * then on, as it may begin a program, make tasks and be gone before anybody looks. */
static int moved(struct placing *placing, struct family *family, const struct census_event *event) {
    struct cgroups *cgroups = &placing->cgroups;
    const char *path = event->more;
    int32_t task = (int32_t)event->number;
    if (!is_number(event->number) || path == NULL || event->result != cgroups->hierarchy) {
        return 0;
    }
    /* Within a namespace of groups only /proc has paths as we see them. */
    int32_t number =
        cgroups->in_namespace ? cgroups_of(cgroups, task) : cgroups_number(cgroups, path, strlen(path));
    forget_threads(placing, task);
    placing->before[task] = number + KNOWN_FROM;
    placing->stranger[task] = 0;
    if (family_has(family, task)) {
        family_move(family, task, number);
        return 0;
    }
    return number != CGROUP_OUTSIDE ? adopt(placing, family, task, placing->same_numbers ? task : 0, number)
                                    : 0;
}

int placing_before(struct placing *placing, struct family *family, const struct census_event *event) {
    if (event->kind == CENSUS_MOVED) {
        return moved(placing, family, event);
    }
    if (!is_number(event->task)) {
        return 0;
    }
    if (event->kind == CENSUS_EXIT) {
        placing->stranger[event->task] = 0;
        placing->before[event->task] = 0;
    }
    bool known = family_has(family, event->task) || placing->stranger[event->task] != 0;
    return known || !makes_tasks(event) ? 0 : meet(placing, family, event);
}

void placing_after(struct placing *placing, struct family *family, const struct census_event *event) {
    if (event->kind != CENSUS_NEW_TASK || !is_number(event->number)) {
        return;
    }
    int32_t made = (int32_t)event->number;
    bool elsewhere = (event->flags & TASK_INTO_CGROUP) != 0;
    placing->before[made] = 0;
    /* What a stranger makes is one as well; where it was made within a group, that is read when it makes one.
     */
    placing->stranger[made] = !family_has(family, made) && !elsewhere;
    if (family_has(family, made) && elsewhere) {
        /* Here and in the kernel it has the same number where its maker has. */
        bool same = event->local_tid == event->task;
        family_place(family, made, 0, same ? cgroups_of(&placing->cgroups, made) : CGROUP_UNKNOWN);
    }
}
