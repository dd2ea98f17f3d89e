/* The command that is counted: started, waited for, ended. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "census/census.h"
#include "events/files.h"

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

uint64_t census_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Waits until somebody watches, then becomes the command; says why where it cannot. */
__attribute__((noreturn)) static void become(const struct census *census, int gate, int failure) {
    char **command = census->command;
    char nothing = 0;
    while (read(gate, &nothing, 1) < 0 && errno == EINTR) {
    }
    files_restore();
    if (census->debuginfod_urls != NULL) {
        (void)setenv(DEBUGINFOD_URLS, census->debuginfod_urls, 1);
    }
    execvp(command[0], command);
    int error = errno;
    (void)write(failure, &error, sizeof error);
    _exit(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

int command_start(struct census *census, int *release) {
    int gate[2];
    int failure[2];
    if (pipe2(gate, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (pipe2(failure, O_CLOEXEC) != 0) {
        int error = -errno;
        close(gate[0]);
        close(gate[1]);
        return error;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        become(census, gate[0], failure[1]);
    }
    int error = pid < 0 ? -errno : 0;
    close(gate[0]);
    close(failure[1]);
    if (error != 0) {
        close(gate[1]);
        close(failure[0]);
        return error;
    }
    census->pid = pid;
    census->group = getpgrp();
    census->failure = failure[0];
    *release = gate[1];
    return 0;
}

void command_note(struct census *census, int status) {
    census->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    int error = 0;
    /* It is at its end: the command has closed its other one when it was executed, or has left. */
    if (read(census->failure, &error, sizeof error) == sizeof error) {
        census->not_started = error;
    }
}

bool command_ended(struct census *census) {
    int status = 0;
    pid_t child = 0;
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        if (child == census->pid) {
            command_note(census, status);
        }
    }
    return census->exit_status >= 0 || (child < 0 && errno == ECHILD);
}

void command_kill(struct census *census) {
    int status = 0;
    kill(census->pid, SIGKILL);
    while (waitpid(census->pid, &status, 0) < 0 && errno == EINTR) {
    }
}
