/* clonometer-guardian: sets the frequency of some CPUs for as long as somebody measures, and sets everything
 * back afterwards, whoever dies.
 *
 *     clonometer-guardian WISH CPUS [ROOT]      WISH: base, turbo or kHz; CPUS: 0,2-5; ROOT: in the place of
 * /sys
 *
 * It says `ready` on stdout once the wish is set, or `refused: REASON`; then it waits for the end of its
 * stdin, sets everything back and says `restored`. Exit: 0; 2 bad call; 3 refused; 1 something could not be
 * set back.
 *
 * The end of a pipe is the only sign of death that cannot be missed: it comes when the writer ends in
 * whatever way. So nothing is asked of the writer but to hold the other end. Two processes keep watch: should
 * one be killed, the other sets the settings back. Neither stops for SIGINT, SIGTERM, SIGHUP or SIGQUIT, and
 * both have a session of their own, so that neither Ctrl-C nor a signal to the writer's group reaches them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/sys.h"
#include "guardian/cpufreq.h"

enum { EXIT_NOT_RESTORED = 1, EXIT_USAGE = 2, EXIT_REFUSED = 3 };

static void say(int fd, const char *what, const char *reason) {
    char line[CPUFREQ_PATH_BYTES + 512];
    int length = snprintf(line, sizeof line, "%s%s%s\n", what, *reason != '\0' ? ": " : "", reason);
    /* A reader that has gone must not keep the settings from being restored. */
    (void)sys_write_all(fd, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

static void outlive(void) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        signal(SIGNALS[i], SIG_IGN);
    }
    /* Whoever started us may have asked to be followed into death; that survives an exec. */
    prctl(PR_SET_PDEATHSIG, 0);
    (void)setsid();
}

static void await_end(int fd) {
    char scrap[256];
    for (;;) {
        ssize_t got = read(fd, scrap, sizeof scrap);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return;
        }
    }
}

static int restore(struct cpufreq *cpufreq) {
    int error = cpufreq_restore(cpufreq);
    if (error != 0) {
        say(STDERR_FILENO, "clonometer-guardian", cpufreq->reason);
    }
    return error != 0 ? EXIT_NOT_RESTORED : 0;
}

/* The second watch holds the pipe's writing end: it restores when the first has gone without saying that all
 * is back, and the writer has gone too. */
static int start_second(struct cpufreq *cpufreq, int *second_fd) {
    int ends[2];
    if (pipe(ends) != 0) {
        return -errno;
    }
    pid_t pid = fork();
    if (pid < 0) {
        return -errno;
    }
    if (pid > 0) {
        close(ends[0]);
        *second_fd = ends[1];
        return 0;
    }
    close(ends[1]);
    (void)setsid();
    char word = '\0';
    ssize_t got = 0;
    while ((got = read(ends[0], &word, 1)) < 0 && errno == EINTR) {
    }
    if (got == 1) {
        _exit(0);
    }
    await_end(STDIN_FILENO);
    _exit(restore(cpufreq));
}

static int keep(struct cpufreq *cpufreq, enum cpufreq_wish wish, int64_t khz) {
    int second_fd = -1;
    outlive();
    int error = cpufreq_save(cpufreq);
    if (error != 0) {
        say(STDOUT_FILENO, "refused", cpufreq->reason);
        return EXIT_REFUSED;
    }
    error = start_second(cpufreq, &second_fd);
    if (error != 0) {
        say(STDOUT_FILENO, "refused", strerror(-error));
        return EXIT_REFUSED;
    }
    error = cpufreq_set(cpufreq, wish, khz);
    if (error == 0) {
        say(STDOUT_FILENO, "ready", "");
        await_end(STDIN_FILENO);
    } else {
        say(STDOUT_FILENO, "refused", cpufreq->reason);
    }
    int status = restore(cpufreq);
    if (status == 0) {
        say(STDOUT_FILENO, "restored", "");
    }
    (void)sys_write_all(second_fd, "r", 1);
    int ended = 0;
    (void)sys_wait(-1, &ended);
    return error != 0 ? EXIT_REFUSED : status;
}

int main(int argc, char **argv) {
    static struct cpufreq cpufreq;
    char *end = NULL;
    if (argc < 3 || argc > 4) {
        say(STDERR_FILENO, "usage", "clonometer-guardian base|turbo|KHZ CPUS [ROOT]");
        return EXIT_USAGE;
    }
    int64_t khz = strtoll(argv[1], &end, 10);
    bool number = end != argv[1] && *end == '\0' && khz > 0;
    enum cpufreq_wish wish = strcmp(argv[1], "base") == 0    ? CPUFREQ_BASE
                             : strcmp(argv[1], "turbo") == 0 ? CPUFREQ_TURBO
                                                             : CPUFREQ_KHZ;
    cpufreq.root = argc == 4 ? argv[3] : "/sys";
    if ((wish == CPUFREQ_KHZ && !number) || cpufreq_parse_cpus(&cpufreq, argv[2]) != 0) {
        say(STDERR_FILENO, "clonometer-guardian",
            "the wish is base, turbo or kHz; CPUs are a list such as 0,2-5");
        return EXIT_USAGE;
    }
    int status = keep(&cpufreq, wish, khz);
    free(cpufreq.saved);
    return status;
}
