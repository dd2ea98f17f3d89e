/* Starts the driver of a language, and does for it what languages cannot do themselves.
 *
 *     clonometer-tether COMMAND... --fd N key=value...
 *     clonometer-tether COMMAND... --describe
 *     clonometer-tether --mhz CPU...
 *
 * Before the first two execute COMMAND with the same words: it dies with whoever started it; descriptor 0 is
 * a file in memory where targets leave their stamps (`m0:0`); `targets=` names this program's folder, unless
 * it is named already; and where the placement is pinned (the default), it runs on one CPU from its first
 * instruction on: a runtime starts threads before any line of its program.
 *
 * The last form prints a line for each CPU: its number, and the effective MHz that it has now. A driver calls
 * it after a block. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"

enum { USAGE = 2, STAMPS_BYTES = 4096, WORDS_ADDED = 2 };

static int complain(const char *what, const char *why) {
    (void)fprintf(stderr, "clonometer-tether: %s: %s\n", what, why);
    return USAGE;
}

/* A whole number from 0 that fills the text; -1 otherwise. */
static long number_of(const char *text) {
    char *end = NULL;
    long number = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    return number >= 0 && *end == '\0' ? number : -1;
}

static int print_frequencies(char *const *words) {
    for (; *words != NULL; words++) {
        long cpu = number_of(*words);
        if (cpu < 0 || cpu >= SYS_MAX_CPUS || sys_pin((int)cpu) != 0) {
            return complain(*words, "is not a usable CPU");
        }
        (void)printf("%ld %.1f\n", cpu, clock_effective_mhz());
    }
    return 0;
}

/* The value of the last word `KEY=value`, NULL where there is none. `key` ends in =. */
static const char *value_of(char *const *words, const char *key) {
    const char *value = NULL;
    for (; *words != NULL; words++) {
        if (strncmp(*words, key, strlen(key)) == 0) {
            value = *words + strlen(key);
        }
    }
    return value;
}

/* Whether the words name an open descriptor that somebody reads. A starter that died before prctl took effect
 * shows as a broken pipe. 0, or the status to end with. */
static int check_reader(const char *word) {
    long fd = word == NULL ? -1 : number_of(word);
    if (fd < 0 || fd > INT32_MAX || fcntl((int)fd, F_GETFD) < 0) {
        return complain(word == NULL ? "--fd" : word, "is not an open descriptor");
    }
    struct pollfd reader = {.fd = (int)fd};
    if (poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLNVAL)) != 0) {
        (void)complain(word, "nobody reads this descriptor");
        return 1;
    }
    return 0;
}

/* Targets write to descriptor 0, which every runtime passes on where it is asked to. */
static void place_stamps(void) {
    int fd = sys_memory_file("clonometer stamps", STAMPS_BYTES);
    if (fd > STDIN_FILENO) {
        (void)dup2(fd, STDIN_FILENO);
        (void)close(fd);
    }
}

/* A value that cannot be meant is the driver's to refuse, which names its key; so is a CPU that it is not on.
 */
static void place(char *const *words) {
    const char *placement = value_of(words, "placement=");
    const char *cpu = value_of(words, "cpu=");
    struct sys_cpus allowed;
    if (placement != NULL && strcmp(placement, "pinned") != 0) {
        return;
    }
    if (cpu == NULL && sys_allowed(&allowed) == 0) {
        (void)sys_pin(sys_highest_cpu(&allowed));
    } else if (cpu != NULL && number_of(cpu) >= 0 && number_of(cpu) < SYS_MAX_CPUS) {
        (void)sys_pin((int)number_of(cpu));
    }
}

int main(int argc, char *argv[]) {
    static char targets[STAMPS_BYTES] = "targets=";
    const size_t begin = strlen(targets);
    char **command = calloc((size_t)argc + WORDS_ADDED, sizeof *command);
    if (argc >= 2 && strcmp(argv[1], "--mhz") == 0) {
        return print_frequencies(argv + 2);
    }
    char **words = argv + 1;
    while (*words != NULL && strcmp(*words, "--fd") != 0 && strcmp(*words, "--describe") != 0) {
        words++;
    }
    if (command == NULL || *words == NULL || words == argv + 1) {
        return complain("usage", "clonometer-tether COMMAND... --describe | --fd N key=value...");
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    memcpy(command, argv + 1, ((size_t)argc - 1) * sizeof *command);
    if (strcmp(*words, "--fd") == 0) {
        int status = check_reader(words[1]);
        if (status != 0) {
            return status;
        }
        place_stamps();
        place(words);
        ssize_t length = readlink("/proc/self/exe", targets + begin, sizeof targets - begin - 1);
        char *name = length > 0 ? strrchr(targets, '/') : NULL;
        if (value_of(words, "targets=") == NULL && name != NULL) {
            *name = '\0';
            command[argc - 1] = targets;
        }
    }
    execv(command[0], command);
    return complain(command[0], strerror(errno));
}
