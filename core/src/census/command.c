/* The command that is counted: started, waited for, ended. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "census/census.h"
#include "census/signals.h"
#include "trace/files.h"

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

static const uint64_t GRACE_NS = 2000000000;

uint64_t census_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Waits until somebody watches, then becomes the command; says why where it cannot. */
__attribute__((noreturn)) static void become(char **command, int gate, int failure) {
    char nothing = 0;
    while (read(gate, &nothing, 1) < 0 && errno == EINTR) {
    }
    files_restore();
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
        become(census->command, gate[0], failure[1]);
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
    if (census->exit_status >= 0) {
        return true;
    }
    pid_t told = waitpid(census->pid, &status, WNOHANG);
    bool ended = told == census->pid && !WIFSTOPPED(status);
    if (ended) {
        command_note(census, status);
    }
    return ended || (told < 0 && errno == ECHILD);
}

struct round {
    pid_t group;
    pid_t command;
    bool patient;
    size_t living;
};

static void tell(const struct round *round, pid_t process, bool first) {
    if (first || !round->patient) {
        kill(process, round->patient ? SIGTERM : SIGKILL);
    }
}

static void meet(void *context, pid_t process, bool first) {
    struct round *round = context;
    /* As long as the command's end is not among the events that were read, nor is what it has made last. */
    if (process == round->command) {
        round->living++;
        return;
    }
    /* Who has left the group meant to live on. */
    if (getpgid(process) == round->group) {
        round->living++;
        tell(round, process, first);
    }
}

/* Tells it to end, and all processes of its group that it has made, as timeout(1) does; later kills them. To
 * be called again and again; whether they have ended, or nothing helps. */
static bool command_end(struct census *census, struct family *family) {
    uint64_t now_ns = census_now_ns();
    bool first = census->ending_ns == 0;
    census->ending_ns = first ? now_ns : census->ending_ns;
    uint64_t waited_ns = now_ns - census->ending_ns;
    struct round round = {.group = census->group, .command = census->pid, .patient = waited_ns <= GRACE_NS};
    bool ended = census->exit_status >= 0;
    if (!ended) {
        tell(&round, census->pid, first);
    }
    family_living(family, meet, &round);
    return (ended && round.living == 0) || waited_ns > 2 * GRACE_NS;
}

/* Whether a signal or the time ends it, and notes which. An interrupt from the terminal reaches the command
 * as well, which answers it as it likes; what has left its group it does not reach. */
static bool told_to_end(struct census *census, bool ended) {
    bool group_only = census->command != NULL && !ended;
    census->interrupted = signals_caught() != 0 && (!group_only || signals_caught() != SIGINT);
    census->timed_out =
        census->most_ns > 0 && census_now_ns() - census->begin_ns >= (uint64_t)census->most_ns;
    return census->interrupted || census->timed_out;
}

bool census_over(struct census *census, struct family *family, bool ended) {
    if (census->ending_ns != 0) {
        return command_end(census, family);
    }
    if (!ended) {
        return told_to_end(census, ended) && (census->command == NULL || command_end(census, family));
    }
    uint64_t alive = census->until_all_end ? family_alive(family) : 0;
    if (alive == 0 || told_to_end(census, ended)) {
        return true;
    }
    if (!census->outlived) {
        census->outlived = true;
        (void)tell_outlived(census, alive);
    }
    return false;
}

void command_kill(struct census *census) {
    int status = 0;
    kill(census->pid, SIGKILL);
    while (waitpid(census->pid, &status, 0) < 0 && errno == EINTR) {
    }
}
