/* A program under watch runs only once it is released, whatever becomes of its watcher; signals reach it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "events/gated.h"

enum { TRIES = 200, RAN = 3 };

static char trace[] = "/tmp/clonometer-gated-XXXXXX";
static char script[128];
static char *leaves_trace[] = {"/bin/sh", "-c", script, NULL};

static bool ran(void) {
    return access(trace, F_OK) == 0;
}

static int finish(struct gated *gated) {
    int status = 0;
    CHECK(waitpid(gated->pid, &status, 0) == gated->pid, "it ends");
    return gated_take(gated, status);
}

static void check_release(void) {
    const struct gated_words words = {.arguments = leaves_trace};
    struct gated gated;
    CHECK(gated_start(&words, &gated) == 0 && gated_release(&gated) == 0, "released");
    CHECK(finish(&gated) == RAN && ran(), "it has run");
    CHECK(gated.pid == 0 && gated.not_started == 0, "nobody knows its number any more");
    CHECK(gated_kill(&gated) == -1, "nor kills whoever has it");
    gated_signal(&gated, SIGKILL);
    unlink(trace);
    CHECK(gated_start(&words, &gated) == 0 && gated_kill(&gated) == 128 + SIGKILL && !ran(), "killed before");
}

static void check_refused_exec(void) {
    char *missing[] = {"/nowhere/at/all", NULL};
    const struct gated_words words = {.arguments = missing};
    struct gated gated;
    CHECK(gated_start(&words, &gated) == 0 && gated_release(&gated) == 0, "released");
    CHECK(finish(&gated) == 127 && gated.not_started == ENOENT, "it says why not");
}

static bool refuse(const void *context) {
    (void)context;
    return false;
}

static void check_refused_prepare(void) {
    const struct gated_words words = {.arguments = leaves_trace, .prepare = refuse};
    struct gated gated;
    CHECK(gated_start(&words, &gated) == 0 && gated_release(&gated) == 0, "released");
    CHECK(finish(&gated) == 127 && gated.not_started == 0 && !ran(), "it leaves instead");
}

/* What a watcher may do before the release: it is killed, or it leaves. */
static void watch_badly(bool killed, bool ends_with_starter, int news) {
    const struct gated_words words = {.arguments = leaves_trace, .ends_with_starter = ends_with_starter};
    struct gated gated;
    if (gated_start(&words, &gated) != 0 || write(news, &gated.pid, sizeof gated.pid) < 0) {
        _exit(1);
    }
    if (killed) {
        kill(getpid(), SIGKILL);
    }
    _exit(0);
}

static void check_watcher(bool killed, bool ends_with_starter) {
    int news[2];
    int status = 0;
    pid_t orphan = 0;
    CHECK(pipe(news) == 0, "a pipe");
    pid_t watcher = fork();
    if (watcher == 0) {
        watch_badly(killed, ends_with_starter, news[1]);
    }
    close(news[1]);
    CHECK(read(news[0], &orphan, sizeof orphan) == sizeof orphan, "it has started");
    CHECK(waitpid(watcher, NULL, 0) == watcher, "the watcher is gone");
    /* We are the parent of those that lose theirs. */
    CHECK(waitpid(orphan, &status, 0) == orphan, "so is what it watched");
    CHECK(WIFEXITED(status) ? WEXITSTATUS(status) == 127 : ends_with_starter,
          "by itself, or with its starter");
    CHECK(!ran(), "without having run");
    close(news[0]);
}

static void swallow(int number) {
    (void)number;
}

/* A signal meets the child as early as it can be met. */
static void check_signals(void) {
    static const int NUMBERS[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    const struct gated_words words = {.arguments = leaves_trace};
    struct gated gated;
    for (size_t i = 0; i < 4; i++) {
        signal(NUMBERS[i], swallow);
    }
    for (int i = 0; i < TRIES; i++) {
        int number = NUMBERS[i % 4];
        CHECK(gated_start(&words, &gated) == 0 && kill(gated.pid, number) == 0, "a signal");
        CHECK(gated_release(&gated) == 0, "released");
        CHECK(finish(&gated) == 128 + number && !ran(), "it has ended by it");
    }
    for (size_t i = 0; i < 4; i++) {
        signal(NUMBERS[i], SIG_DFL);
    }
}

/* What is ignored or blocked stays so. */
static void check_inherited(void) {
    char *kills_itself[] = {"/bin/sh", "-c", "kill -HUP $$; kill -USR1 $$; exit 3", NULL};
    const struct gated_words words = {.arguments = kills_itself};
    struct gated gated;
    sigset_t blocked;
    sigset_t former;
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &former);
    CHECK(gated_start(&words, &gated) == 0 && gated_release(&gated) == 0, "released");
    CHECK(finish(&gated) == RAN, "neither has ended it");
    sigset_t now;
    sigprocmask(SIG_SETMASK, &former, &now);
    CHECK(sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGINT) == 0, "nor has our mask changed");
    signal(SIGHUP, SIG_DFL);
}

int main(void) {
    int file = mkstemp(trace);
    if (file < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return 77;
    }
    close(file);
    unlink(trace);
    snprintf(script, sizeof script, ": >%s; exit %d", trace, RAN);
    check_release();
    check_refused_exec();
    check_refused_prepare();
    for (int i = 0; i < TRIES / 10; i++) {
        check_watcher(true, false);
        check_watcher(false, false);
        check_watcher(true, true);
    }
    check_signals();
    check_inherited();
    return 0;
}
