#include "census/roots.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "census/names.h"

enum { MOST_TASKS = 1 << 22 /* PID_MAX_LIMIT */, MOST_PATH = 256, STAT_ROOM = 1024 };

struct roots {
    unsigned char *member; /* one for each number */
    pid_t last;            /* the highest that was added */
    bool begun;            /* they run already, so /proc tells what */
};

struct roots *roots_new(void) {
    struct roots *roots = calloc(1, sizeof *roots);
    if (roots == NULL) {
        return NULL;
    }
    /* Untouched, it takes no memory. */
    roots->member = calloc(MOST_TASKS, 1);
    if (roots->member == NULL) {
        free(roots);
        return NULL;
    }
    return roots;
}

void roots_free(struct roots *roots) {
    if (roots != NULL) {
        free(roots->member);
        free(roots);
    }
}

int roots_add(struct roots *roots, pid_t task) {
    if (task <= 0 || task >= MOST_TASKS) {
        return -ESRCH;
    }
    roots->member[task] = 1;
    roots->last = task > roots->last ? task : roots->last;
    return 0;
}

bool roots_have(const struct roots *roots, pid_t task) {
    return task > 0 && task < MOST_TASKS && roots->member[task] != 0;
}

void roots_remove(struct roots *roots, pid_t task) {
    if (roots_have(roots, task)) {
        roots->member[task] = 0;
    }
}

/* 0, or -ESRCH where the process has gone. */
static int add_threads(struct roots *roots, pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return -ESRCH;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            (void)roots_add(roots, (pid_t)strtol(entry->d_name, NULL, 10));
        }
    }
    closedir(folder);
    return 0;
}

/* /proc/PID/stat from field 3 on, the state: after the name, which may hold spaces and brackets. NULL where
 * it has gone. */
static const char *state_of(const char *process, char text[static STAT_ROOM]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    if (sys_read_file(path, text, STAT_ROOM) <= 0) {
        return NULL;
    }
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? name_end + 2 : NULL;
}

/* Field 4, -1 where it has gone. */
static pid_t parent_of(const char *process) {
    char text[STAT_ROOM];
    const char *state = state_of(process, text);
    return state != NULL ? (pid_t)strtol(state + 2, NULL, 10) : -1;
}

/* /proc tells beginnings on CLOCK_BOOTTIME, which goes on while the machine sleeps. */
static uint64_t since_boot_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

bool roots_look(pid_t task, struct root_facts *facts) {
    static const char FIELDS[] =
        "%c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    char name[24];
    char text[STAT_ROOM];
    char letter = 0;
    int group = 0;
    unsigned long long ticks = 0;
    snprintf(name, sizeof name, "%d", (int)task);
    const char *state = state_of(name, text);
    if (state == NULL || sscanf(state, FIELDS, &letter, &group, &ticks) != 3) {
        return false;
    }
    /* Read in this order, a pause between makes nobody younger. */
    uint64_t awake_ns = since_boot_ns(CLOCK_MONOTONIC);
    uint64_t slept_ns = since_boot_ns(CLOCK_BOOTTIME) - awake_ns;
    uint64_t began_ns = ticks * (1000000000U / (uint64_t)sysconf(_SC_CLK_TCK));
    *facts = (struct root_facts){.began_ns = began_ns > slept_ns ? began_ns - slept_ns : 0,
                                 .group = group,
                                 .ended = letter == 'Z' || letter == 'X'};
    return true;
}

/* Adds the children of members, and their threads where these are asked for; how many processes it added. */
static int add_children(struct roots *roots, bool threads) {
    int added = 0;
    DIR *folder = opendir("/proc");
    if (folder == NULL) {
        return 0;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        /* Its threads' children name the process as their parent. */
        if (!roots_have(roots, process) && roots_have(roots, parent_of(entry->d_name))) {
            added += (threads ? add_threads(roots, process) : roots_add(roots, process)) == 0;
        }
    }
    closedir(folder);
    return added;
}

int roots_add_below(struct roots *roots, pid_t process) {
    int error = add_threads(roots, process);
    roots->begun = true;
    while (error == 0 && add_children(roots, true) > 0) {
    }
    return error;
}

void roots_each(const struct roots *roots, void (*meet)(void *context, pid_t task), void *context) {
    for (pid_t task = 1; task <= roots->last; task++) {
        if (roots_have(roots, task)) {
            meet(context, task);
        }
    }
}

void roots_below(pid_t process, void (*meet)(void *context, pid_t process), void *context) {
    struct roots *roots = roots_new();
    if (roots == NULL) {
        return;
    }
    (void)roots_add(roots, process);
    while (add_children(roots, false) > 0) {
    }
    roots_remove(roots, process);
    roots_each(roots, meet, context);
    roots_free(roots);
}

void roots_program(const struct roots *roots, pid_t task, char *path, size_t capacity) {
    path[0] = '\0';
    if (roots->begun) {
        name_of_process(task, path, capacity);
    }
}

bool roots_live(const struct roots *roots) {
    for (pid_t task = 1; task <= roots->last; task++) {
        if (roots_have(roots, task) && kill(task, 0) == 0) {
            return true;
        }
    }
    return false;
}
