/* clonometer-guardian: sets the frequency of some CPUs for as long as somebody measures, and sets everything
 * back afterwards, whoever dies.
 *
 *     clonometer-guardian WISH CPUS [ROOT [FOLDER]]
 *     clonometer-guardian restore [ROOT [FOLDER]]
 *
 * WISH: base, turbo or kHz; CPUS: 0,2-5; ROOT: in the place of /sys; FOLDER: where settings are saved, by
 * default /run/clonometer. `restore` sets back what guardians that were killed have left.
 *
 * It says `ready` on stdout once the wish is set, or `refused: REASON`; then it waits for the end of its
 * stdin, sets everything back and says `restored`. Exit: 0; 2 bad call; 3 refused; 1 something could not be
 * set back.
 *
 * The end of a pipe is the only sign of death that cannot be missed: it comes when the writer ends in
 * whatever way. So nothing is asked of the writer but to hold the other end. Two processes keep watch: should
 * one be killed, the other sets the settings back. Neither stops for SIGINT, SIGTERM, SIGHUP or SIGQUIT, and
 * both have a session of their own, so that neither Ctrl-C nor a signal to the writer's group reaches them.
 * What kills both at once leaves the saved settings on disk, and the next guardian begins with them.
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
#include "guardian/saved.h"

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

static int restore(struct cpufreq *cpufreq, const struct saved *saved) {
    int error = cpufreq_restore(cpufreq);
    if (error != 0) {
        say(STDERR_FILENO, "clonometer-guardian", cpufreq->reason);
        return EXIT_NOT_RESTORED;
    }
    saved_remove(saved);
    return 0;
}

/* Sets back what guardians that have gone left in the file. 0 or -errno with the reason. */
static int restore_left(const struct saved *saved, struct cpufreq *cpufreq) {
    int kind = saved_read(saved, cpufreq);
    if (kind == SAVED_BEFORE_THIS_BOOT) {
        say(STDERR_FILENO, "discarded",
            "CPU frequency settings that a measurement saved before this machine was restarted");
    } else if (kind == SAVED_LEFT && !cpufreq_is_restored(cpufreq)) {
        kind = cpufreq_restore(cpufreq);
        if (kind == 0) {
            say(STDERR_FILENO, "put back",
                "CPU frequency settings that a killed measurement had left changed");
        }
    }
    free(cpufreq->saved);
    cpufreq->saved = NULL;
    cpufreq->saved_count = 0;
    return kind < 0 ? kind : 0;
}

/* The second watch holds the pipe's writing end: it restores when the first has gone without saying that all
 * is back, and the writer has gone too. */
static int start_second(struct cpufreq *cpufreq, const struct saved *saved, int *second_fd) {
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
    /* The first may have been killed between removing it and saying so; the next guardian's is not ours. */
    _exit(saved_stands(saved) ? restore(cpufreq, saved) : 0);
}

/* Saves what may be changed, where it outlives us. 0 or -errno with the reason; then nothing is changed. */
static int save(struct cpufreq *cpufreq, struct saved *saved, const char *folder) {
    int error = saved_claim(saved, cpufreq, folder, true);
    error = error != 0 ? error : restore_left(saved, cpufreq);
    if (error != 0) {
        return error;
    }
    error = cpufreq_save(cpufreq);
    error = error != 0 ? error : saved_write(saved, cpufreq);
    if (error != 0) {
        saved_remove(saved);
    }
    return error;
}

static int keep(struct cpufreq *cpufreq, const char *folder, enum cpufreq_wish wish, int64_t khz) {
    struct saved saved;
    int second_fd = -1;
    outlive();
    int error = save(cpufreq, &saved, folder);
    if (error != 0) {
        say(STDOUT_FILENO, "refused", cpufreq->reason);
        return EXIT_REFUSED;
    }
    error = start_second(cpufreq, &saved, &second_fd);
    if (error != 0) {
        saved_remove(&saved);
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
    int status = restore(cpufreq, &saved);
    if (status == 0) {
        say(STDOUT_FILENO, "restored", "");
    }
    (void)sys_write_all(second_fd, "r", 1);
    int ended = 0;
    (void)sys_wait(-1, &ended);
    return error != 0 ? EXIT_REFUSED : status;
}

/* The whole of `restore`: what a living guardian has, or nobody left, is left alone. */
static int restore_only(struct cpufreq *cpufreq, const char *folder) {
    struct saved saved;
    outlive();
    int error = saved_claim(&saved, cpufreq, folder, false);
    if (error == -ENOENT || error == -EBUSY) {
        return 0;
    }
    error = error != 0 ? error : restore_left(&saved, cpufreq);
    if (error != 0) {
        say(STDERR_FILENO, "clonometer-guardian", cpufreq->reason);
        return EXIT_NOT_RESTORED;
    }
    saved_remove(&saved);
    return 0;
}

static int usage(const char *reason) {
    say(STDERR_FILENO, "clonometer-guardian", reason);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    static struct cpufreq cpufreq;
    bool only_restore = argc > 1 && strcmp(argv[1], "restore") == 0;
    /* Of the two optional words. */
    int next = only_restore ? 2 : 3;
    if (argc < next || argc > next + 2) {
        return usage("clonometer-guardian base|turbo|KHZ CPUS [ROOT [FOLDER]], or restore [ROOT [FOLDER]]");
    }
    cpufreq.root = argc > next ? argv[next] : "/sys";
    const char *folder = argc > next + 1 ? argv[next + 1] : "/run/clonometer";
    if (only_restore) {
        return restore_only(&cpufreq, folder);
    }
    char *end = NULL;
    int64_t khz = strtoll(argv[1], &end, 10);
    bool number = end != argv[1] && *end == '\0' && khz > 0;
    enum cpufreq_wish wish = strcmp(argv[1], "base") == 0    ? CPUFREQ_BASE
                             : strcmp(argv[1], "turbo") == 0 ? CPUFREQ_TURBO
                                                             : CPUFREQ_KHZ;
    if ((wish == CPUFREQ_KHZ && !number) || cpufreq_parse_cpus(&cpufreq, argv[2]) != 0) {
        return usage("the wish is base, turbo or kHz; CPUs are a list such as 0,2-5");
    }
    int status = keep(&cpufreq, folder, wish, khz);
    free(cpufreq.saved);
    return status;
}
