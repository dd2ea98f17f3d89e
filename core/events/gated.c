#include "events/gated.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/files.h"
#include "events/pidfd.h"

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

/* What is ignored is inherited and stays so; of what is caught exec would leave nothing, but only exec. */
static void catch_nothing(void) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
            action.sa_handler != SIG_IGN) {
            (void)signal(number, SIG_DFL);
        }
    }
}

/* Whether it was released: the end of the gate is none. */
static bool pass(int gate) {
    char byte = 0;
    ssize_t got = 0;
    while ((got = read(gate, &byte, 1)) < 0 && errno == EINTR) {
    }
    return got == 1;
}

__attribute__((noreturn)) static void become(const struct gated_words *words, const struct gated *gated,
                                             int failure, const sigset_t *former) {
    close(gated->gate[1]);
    if (words->ends_with_starter) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    catch_nothing();
    sigprocmask(SIG_SETMASK, former, NULL);
    if (!pass(gated->gate[0]) || (words->prepare != NULL && !words->prepare(words->context))) {
        _exit(NOT_FOUND);
    }
    files_restore();
    int error = ENOENT;
    if (words->arguments[0] != NULL) {
        execvp(words->arguments[0], words->arguments);
        error = errno;
    }
    (void)write(failure, &error, sizeof error);
    _exit(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

static void close_gate(struct gated *gated) {
    for (int end = 0; end < 2; end++) {
        if (gated->gate[end] >= 0) {
            close(gated->gate[end]);
            gated->gate[end] = -1;
        }
    }
}

int gated_start(const struct gated_words *words, struct gated *gated) {
    int failure[2];
    sigset_t all;
    sigset_t former;
    *gated = (struct gated){.pidfd = -1, .gate = {-1, -1}, .failure = -1};
    if (pipe2(gated->gate, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (pipe2(failure, O_CLOEXEC) != 0) {
        int error = -errno;
        close_gate(gated);
        return error;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &former);
    pid_t pid = fork();
    int error = pid < 0 ? -errno : 0;
    if (pid == 0) {
        become(words, gated, failure[1], &former);
    }
    sigprocmask(SIG_SETMASK, &former, NULL);
    close(failure[1]);
    if (error != 0) {
        close(failure[0]);
        close_gate(gated);
        return error;
    }
    gated->pid = pid;
    gated->pidfd = pidfd_of(pid);
    gated->failure = failure[0];
    return 0;
}

int gated_release(struct gated *gated) {
    const char byte = 0;
    ssize_t sent = 0;
    while ((sent = write(gated->gate[1], &byte, 1)) < 0 && errno == EINTR) {
    }
    int error = sent == 1 ? 0 : -errno;
    close_gate(gated);
    return error;
}

int gated_take(struct gated *gated, int status) {
    int error = 0;
    /* It is at its end: the child has closed its own when it executed the program, or left. */
    if (read(gated->failure, &error, sizeof error) == sizeof error) {
        gated->not_started = error;
    }
    close(gated->failure);
    if (gated->pidfd >= 0) {
        close(gated->pidfd);
    }
    close_gate(gated);
    gated->pid = 0;
    gated->pidfd = gated->failure = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void gated_signal(const struct gated *gated, int number) {
    if (gated->pid > 0) {
        (void)pidfd_signal(gated->pidfd, gated->pid, number);
    }
}

int gated_kill(struct gated *gated) {
    int status = 0;
    if (gated->pid <= 0) {
        return -1;
    }
    /* One that we trace may stop once more before its end. */
    do {
        gated_signal(gated, SIGKILL);
        while (waitpid(gated->pid, &status, 0) < 0) {
            if (errno != EINTR) {
                gated->pid = 0; /* no child of ours has its number */
                return -1;
            }
        }
    } while (WIFSTOPPED(status));
    return gated_take(gated, status);
}
