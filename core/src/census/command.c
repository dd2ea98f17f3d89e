/* The command that is counted: started, waited for, ended. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "census/census.h"

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126, PATIENCE_NS = 100000000, GRACE_TURNS = 20 };

uint64_t census_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

int command_start(struct census *census, int *release) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) != 0) {
        return -errno;
    }
    pid_t pid = fork();
    if (pid < 0) {
        int error = -errno;
        close(gate[0]);
        close(gate[1]);
        return error;
    }
    if (pid == 0) {
        char nothing = 0;
        close(gate[1]);
        while (read(gate[0], &nothing, 1) < 0 && errno == EINTR) {
        }
        execvp(census->command[0], census->command);
        _exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
    }
    close(gate[0]);
    census->pid = pid;
    *release = gate[1];
    return 0;
}

bool census_told_to_end(struct census *census) {
    census->interrupted = census_interrupted(census);
    census->timed_out =
        census->most_ns > 0 && census_now_ns() - census->begin_ns >= (uint64_t)census->most_ns;
    return census->interrupted || census->timed_out;
}

static void note_status(struct census *census, int status) {
    census->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool command_ended(struct census *census) {
    int status = 0;
    if (census->exit_status >= 0) {
        return true;
    }
    pid_t told = waitpid(census->pid, &status, WNOHANG);
    bool ended = told == census->pid && !WIFSTOPPED(status);
    if (ended) {
        note_status(census, status);
    }
    return ended || (told < 0 && errno == ECHILD);
}

void command_stop(struct census *census) {
    const struct timespec pause = {.tv_nsec = PATIENCE_NS};
    for (int turn = 0; turn < 2 * GRACE_TURNS && !command_ended(census); turn++) {
        if (turn == 0 || turn == GRACE_TURNS) {
            kill(census->pid, turn == 0 ? SIGTERM : SIGKILL);
        }
        nanosleep(&pause, NULL);
    }
}
