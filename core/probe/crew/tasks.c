#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/crew/inside.h"

enum {
    LAUNCHER_STACK_BYTES = 256 << 10, /* the bench lies there, and what a fork's handlers need */
    LOOK_AFTER_NS = 1000000000        /* how often a waiting starter looks whether processes still live */
};

static void *serve_as_thread(void *argument) {
    crew_serve(argument);
    return NULL;
}

static int start_threads(struct crew *crew) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    error = pthread_attr_setstacksize(&attributes, LAUNCHER_STACK_BYTES);
    for (int i = 0; error == 0 && i < crew->count; i++) {
        error = pthread_create(&crew->launchers[i].thread, &attributes, serve_as_thread, &crew->launchers[i]);
        crew->started += error == 0;
    }
    pthread_attr_destroy(&attributes);
    return -error;
}

/* A launcher process dies with the starter, however that ends; one that was orphaned before it could ask for
 * that ends itself. */
__attribute__((noreturn)) static void serve_as_process(struct launcher *self, pid_t starter) {
    const struct measurement *measurement = self->crew->measurement;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == starter &&
        arena_keep_from_children(&measurement->arena, !measurement->children_stamp) == 0) {
        crew_serve(self);
        _exit(0);
    }
    _exit(1);
}

static int start_processes(struct crew *crew) {
    pid_t starter = getpid();
    for (int i = 0; i < crew->count; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            return -errno;
        }
        if (pid == 0) {
            serve_as_process(&crew->launchers[i], starter);
        }
        crew->launchers[i].pid = pid;
        crew->started++;
    }
    return 0;
}

int crew_start_tasks(struct crew *crew, struct reason *reason) {
    bool processes = crew->measurement->bench.request->launchers == LAUNCHERS_PROCESSES;
    int error = processes ? start_processes(crew) : start_threads(crew);
    return error == 0 ? 0
                      : reason_set(reason, error, "only %d of %d launchers could be started: %s",
                                   crew->started, crew->count, strerror(-error));
}

/* Whether a launcher process has ended unasked. */
static bool one_died(struct crew *crew) {
    bool died = false;
    for (int i = 0; i < crew->started; i++) {
        pid_t pid = crew->launchers[i].pid;
        if (pid > 0 && waitpid(pid, NULL, WNOHANG) == pid) {
            crew->launchers[i].pid = 0;
            died = true;
        }
    }
    return died;
}

int crew_await(struct crew *crew, struct tally *tally, uint32_t count) {
    while (tally_await(tally, count, LOOK_AFTER_NS) != 0) {
        if (one_died(crew)) {
            return -ECHILD;
        }
    }
    return 0;
}

void crew_reap(struct crew *crew, bool kill_them) {
    bool processes = crew->measurement->bench.request->launchers == LAUNCHERS_PROCESSES;
    for (int i = 0; i < crew->started; i++) {
        struct launcher *launcher = &crew->launchers[i];
        if (!processes) {
            pthread_join(launcher->thread, NULL);
        } else if (launcher->pid > 0) {
            int status = 0;
            if (kill_them) {
                kill(launcher->pid, SIGKILL);
            }
            (void)sys_wait(launcher->pid, &status);
            launcher->pid = 0;
        }
    }
    crew->started = 0;
}
