/* The probe: performs one cell's launches and answers by the driver protocol (docs/protocol.md). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/keys.h"
#include "base/sys.h"
#include "probe/answer.h"
#include "probe/describe.h"
#include "probe/measure.h"
#include "workloads/caches/caches.h"
#include "workloads/launch/remover.h"
#include "workloads/serve/serve.h"

enum { FIRST_WORD = 3 }; /* after --fd N */

static const char USAGE[] = "usage: probe --describe | --calibrate | --fd N key=value...\n";

static int usage(void) {
    (void)!write(STDERR_FILENO, USAGE, sizeof USAGE - 1);
    return 2;
}

/* The runner may die at any time; the probe must not outlive it. A reader that died before prctl took effect
 * shows as a broken pipe. */
static int follow_the_runner(int fd) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return -errno;
    }
    struct pollfd reader = {.fd = fd};
    return poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLNVAL)) != 0 ? -EPIPE : 0;
}

/* What the machine cannot give is skipped with its numbers; anything else is a failure. */
static const char *status_of(int error, bool preparing) {
    switch (-error) {
    case 0:
        return "ok";
    case ENOMEM:
    case EAGAIN:
    case ENOSYS:
    case EPERM:
    case EACCES:
    case ENOENT:
    case EOPNOTSUPP:
        return preparing ? "skipped" : "failed";
    default:
        return "failed";
    }
}

/* The C library reads its tunables when it starts, so a condition made of them needs a fresh start. Returns
 * only if there is nothing to do (0) or it failed (-errno). Not in the frame of its caller, which stays: each
 * page of stack is copied by each fork. */
__attribute__((noinline)) static int restart_with(const char *tunables, char **argv) {
    static const char NAME[] = "GLIBC_TUNABLES";
    char all[1024];
    const char *now = getenv(NAME);
    if (now != NULL && strstr(now, tunables) != NULL) {
        return 0;
    }
    snprintf(all, sizeof all, "%s%s%s", now != NULL ? now : "", now != NULL ? ":" : "", tunables);
    if (setenv(NAME, all, 1) == 0) {
        execv(sys_own_program(), argv);
    }
    return -errno;
}

/* Prepares and measures; `preparing` says how far it came. 0, or -errno with the reason. */
static int measure(struct measurement *measurement, const struct request *request, bool *preparing,
                   struct reason *reason) {
    int error = measure_prepare(measurement, request, reason);
    if (error == 0) {
        *preparing = false;
        error = measure_run(measurement, reason);
    }
    return error;
}

/* The same with room for the program that exec starts: a frame that nobody else has below his own. */
__attribute__((noinline)) static int measure_program(struct measurement *measurement,
                                                     const struct request *request, bool *preparing,
                                                     struct reason *reason) {
    struct program program;
    measurement->bench.program = &program;
    return measure(measurement, request, preparing, reason);
}

static int answer(int fd, int count, char **argv) {
    /* On the stack, not static: see struct program. */
    struct request request;
    struct reason reason = {""};
    struct measurement measurement;
    memset(&measurement, 0, sizeof measurement);
    bool preparing = true;
    int error = options_parse(count, argv + FIRST_WORD, &request, &reason);
    if (error == 0 && request.workload->needs.tunables != NULL &&
        request.workload->needs.tunables(&request) != NULL) {
        error = restart_with(request.workload->needs.tunables(&request), argv);
    }
    if (error == 0) {
        error = workload_has_axis(request.workload, "program")
                    ? measure_program(&measurement, &request, &preparing, &reason)
                    : measure(&measurement, &request, &preparing, &reason);
    }
    const char *status = status_of(error, preparing);
    int send_error = answer_preamble(fd);
    send_error = send_error != 0 ? send_error : answer_blocks(fd, &measurement);
    if (send_error == 0) {
        send_error =
            answer_done(fd, status, error != 0 ? reason.text : NULL, -error, measurement.block_count);
    }
    if (send_error != 0) {
        dprintf(STDERR_FILENO, "probe: the answer could not be sent: %s\n", strerror(-send_error));
        return 1;
    }
    return strcmp(status, "failed") == 0 ? 1 : 0;
}

/* Not in the frame of main, as above. */
__attribute__((noinline)) static int descriptor(const char *word) {
    struct reason reason;
    int fd = keys_descriptor(word, &reason);
    if (fd < 0) {
        dprintf(STDERR_FILENO, "probe: %s\n", reason.text);
    }
    return fd;
}

int main(int argc, char **argv) {
    /* A reader that has gone, or a file that may not grow, is an error to report, not a signal to die from.
     */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc == 2 && (strcmp(argv[1], "--describe") == 0 || strcmp(argv[1], "--calibrate") == 0)) {
        int error =
            strcmp(argv[1], "--describe") == 0 ? describe(STDOUT_FILENO) : describe_clock(STDOUT_FILENO);
        if (error != 0) {
            dprintf(STDERR_FILENO, "probe: %s: %s\n", argv[1], strerror(-error));
        }
        return error != 0;
    }
    if (argc == 3 && strcmp(argv[1], REMOVER_WORD) == 0) {
        return remover_main(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], CACHES_WALKER_WORD) == 0) {
        return caches_walk_main(argv[2]);
    }
    if (argc > 2 && strcmp(argv[1], SERVE_PROGRAM_WORD) == 0) {
        return serve_program_main(argc - 2, argv + 2);
    }
    if (argc < 3 || strcmp(argv[1], "--fd") != 0) {
        return usage();
    }
    int fd = descriptor(argv[2]);
    if (fd < 0) {
        return 2;
    }
    int error = follow_the_runner(fd);
    if (error != 0) {
        dprintf(STDERR_FILENO, "probe: nobody reads descriptor %d: %s\n", fd, strerror(-error));
        return 1;
    }
    return answer(fd, argc - FIRST_WORD, argv);
}
