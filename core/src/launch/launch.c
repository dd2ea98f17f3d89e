#include "launch/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/clone.h"
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
    {"launcher", COLUMN_LAUNCHER, IN_SAMPLE(launcher), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};

const char *const LAUNCH_AXES[] = {AXES_PLACE, AXES_PARENT, AXES_SPIN, AXES_COLD, NULL};
const char *const FORK_AXES[] = {AXES_PLACE, AXES_PARENT,      AXES_SPIN, AXES_COLD,
                                 AXES_CLOSE, "process_ending", NULL};
const char *const EXEC_AXES[] = {AXES_PLACE,      AXES_PARENT, AXES_COLD, "call_spin_ns",
                                 "stamp_spin_ns", "program",   NULL};
const struct null_reason NO_NEW_PROGRAM[] = {{"image_runs_ns", "no new program is started"}, {NULL, NULL}};

/* glibc lets the kernel keep the child's thread id in its TLS; musl asks it afterwards. */
#ifdef __GLIBC__
const struct clone_facts LIBRARY_FORK = {.flags = TASK_CHILD_SETTID | TASK_CHILD_CLEARTID,
                                         .reaped_by = "wait"};
#else
const struct clone_facts LIBRARY_FORK = {.flags = 0, .reaped_by = "wait"};
#endif
const struct clone_facts LIBRARY_VFORK = {.flags = TASK_VM | TASK_VFORK, .reaped_by = "wait"};
const struct clone_facts LIBRARY_THREAD = {.flags = TASK_PTHREAD, .reaped_by = "futex"};

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
    /* Which status a foreign program ends with is its own affair; that it was killed is not. */
    return WIFEXITED(status) ? 0 : -ECHILD;
}

/* Writes the path of a target, which lies beside the driver unless the request names another folder. 0 or
 * -errno. */
static int target_path(const struct request *request, char *path, size_t capacity) {
    if (request->targets != NULL) {
        int length = snprintf(path, capacity, "%s/%s", request->targets, request->program);
        return length < 0 || (size_t)length >= capacity ? -ENAMETOOLONG : 0;
    }
    ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
    if (length < 0) {
        return -errno;
    }
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    size_t room = capacity - (size_t)(name - path);
    if (strlen(request->program) >= room) {
        return -ENAMETOOLONG;
    }
    memcpy(name, request->program, strlen(request->program) + 1);
    return 0;
}

int launch_prepare_program(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    struct program *program = &bench->program;
    bool foreign = strchr(request->program, '/') != NULL;
    int error = 0;
    if (!foreign) {
        error = target_path(request, program->path, sizeof program->path);
    } else if (strlen(request->program) < sizeof program->path) {
        memcpy(program->path, request->program, strlen(request->program) + 1);
    } else {
        error = -ENAMETOOLONG;
    }
    if (error == 0 && access(program->path, X_OK) != 0) {
        error = -errno;
    }
    if (error != 0) {
        return reason_set(reason, error, "program=%s cannot be started: %s", request->program,
                          strerror(-error));
    }
    /* What a target is told: the clock, and the descriptor and the place that it writes its stamp to. */
    snprintf(program->stamp_argument, sizeof program->stamp_argument, "%c%d:%d",
             clock_used.kind == CLOCK_KIND_TSC ? 't' : 'm', bench->stamp_child ? bench->stamps_fd : -1,
             bench->stamps_offset);
    program->arguments[0] = program->path;
    program->arguments[1] = foreign ? NULL : program->stamp_argument;
    program->arguments[2] = NULL;
    return 0;
}
