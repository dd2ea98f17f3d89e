/* The command that is counted: started, waited for, ended. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "census/census.h"
#include "census/signals.h"

uint64_t census_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static bool prepare(const void *context) {
    (void)context;
    signals_give_back();
    return true;
}

int command_start(struct census *census) {
    const struct gated_words words = {.arguments = census->command, .prepare = prepare};
    /* Set here and not in the child, which could not allocate if another thread held malloc's lock. */
    if (census->debuginfod_urls != NULL && setenv(DEBUGINFOD_URLS, census->debuginfod_urls, 1) != 0) {
        return -errno;
    }
    int error = gated_start(&words, &census->gated);
    if (census->debuginfod_urls != NULL) {
        unsetenv(DEBUGINFOD_URLS);
    }
    census->pid = error == 0 ? census->gated.pid : 0;
    census->group = getpgrp();
    return error;
}

int command_release(struct census *census) {
    /* What came before the command was there has not reached it; what came since has. */
    if (signals_asked(false)) {
        census->interrupted = true;
        census->ending_ns = census_now_ns();
        return 0;
    }
    return gated_release(&census->gated);
}

void command_note(struct census *census, int status) {
    census->exit_status = gated_take(&census->gated, status);
    census->not_started = census->gated.not_started;
}

bool command_ended(struct census *census) {
    int status = 0;
    pid_t child = 0;
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        if (child == census->gated.pid) {
            command_note(census, status);
        }
    }
    return census->exit_status >= 0 || (child < 0 && errno == ECHILD);
}

void command_kill(struct census *census) {
    (void)gated_kill(&census->gated);
}
