#include "launch/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sys.h"
#include "targets/entry.h"

_Static_assert(offsetof(struct stamps, image_ticks) == ENTRY_OFFSET &&
                   offsetof(struct stamps, image_cpu) == ENTRY_OFFSET + offsetof(struct entry_stamp, cpu),
               "targets write their stamp straight into the stamp page");

#define IN_SAMPLE(field) offsetof(struct sample, field)

const struct column LAUNCH_COLUMNS[] = {
    {"start_ns", COLUMN_SINCE_BLOCK, IN_SAMPLE(before), NULL, NULL},
    {"call_returns_ns", COLUMN_SINCE_BEFORE, IN_SAMPLE(call_returns), "call_returns",
     "until the parent has its answer"},
    {"task_runs_ns", COLUMN_SINCE_BEFORE, IN_SAMPLE(task_runs), "task_runs",
     "until the first instruction of the new task's own code"},
    {"image_runs_ns", COLUMN_SINCE_BEFORE, IN_SAMPLE(image_runs), "image_runs",
     "until the entry of the new program"},
    {"reaped_ns", COLUMN_SINCE_BEFORE, IN_SAMPLE(reaped), "reaped", "until wait or join has returned"},
    {"cpu_before", COLUMN_CPU, IN_SAMPLE(cpu_before), NULL, NULL},
    {"cpu_after", COLUMN_CPU, IN_SAMPLE(cpu_after), NULL, NULL},
    {"cpu_child", COLUMN_CPU, IN_SAMPLE(cpu_child), NULL, NULL},
    {"errno", COLUMN_ERRNO, IN_SAMPLE(error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const LAUNCH_AXES[] = {"call_spin_ns", "child_spin_ns", "linkage",       "page_kind", "pages",
                                   "parent_bytes", "placement",     "stamp_spin_ns", "stages",    NULL};
const char *const EXEC_AXES[] = {"call_spin_ns", "linkage", "page_kind",     "pages",  "parent_bytes",
                                 "placement",    "program", "stamp_spin_ns", "stages", NULL};
const struct null_reason NO_NEW_PROGRAM[] = {{"image_runs_ns", "no new program is started"}, {NULL, NULL}};

int launch_reap(const struct bench *bench, pid_t pid, struct sample *sample) {
    int status = 0;
    int error = sys_wait(pid, &status);
    launch_reaped(sample);
    if (error != 0) {
        return error;
    }
    if (bench->stamps->child_error != 0) {
        return -bench->stamps->child_error;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

/* The driver's own folder holds the targets too, unless the request names another. */
static int own_folder(char *folder, size_t capacity) {
    ssize_t length = readlink("/proc/self/exe", folder, capacity - 1);
    if (length < 0) {
        return -errno;
    }
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return 0;
}

int launch_prepare_program(struct bench *bench, struct reason *reason) {
    static char folder[4096];
    static char path[8192];
    static char stamp_argument[64];
    static char *arguments[] = {path, stamp_argument, NULL};
    const struct request *request = bench->request;
    int foreign = strchr(request->program, '/') != NULL;
    int error = request->targets == NULL && !foreign ? own_folder(folder, sizeof folder) : 0;
    if (error != 0) {
        return reason_set(reason, error, "the driver's own folder cannot be found: %s", strerror(-error));
    }
    if (foreign) {
        snprintf(path, sizeof path, "%s", request->program);
        arguments[1] = NULL;
    } else {
        snprintf(path, sizeof path, "%s/%s", request->targets != NULL ? request->targets : folder,
                 request->program);
    }
    if (access(path, X_OK) != 0) {
        return reason_set(reason, -errno, "program=%s: %s: %s", request->program, path, strerror(errno));
    }
    /* What a target is told: the clock, and the descriptor it writes its stamp to. */
    snprintf(stamp_argument, sizeof stamp_argument, "%c%d", clock_used.kind == CLOCK_KIND_TSC ? 't' : 'm',
             bench->stamp_child ? bench->stamps_fd : -1);
    bench->program = path;
    bench->arguments = arguments;
    return 0;
}
