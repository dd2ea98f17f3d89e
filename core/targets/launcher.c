/* Starts an empty program, the same again, and then a command that is compared with another.
 *
 * The first start is slower, since much of this program is executed for the first time; it does not count.
 * Its arguments are FD EMPTY PATH ARGV0 [ARG]... For each start it writes a line to FD: what it took from
 * before the start until its end was waited for in ns, CPU time of it and of the children it waited for in
 * ns, the largest memory of any of these in bytes, and its status as wait(2) has it; or `errno NUMBER` where
 * it could not be started. All have the environment of this program, and /dev/null for all three streams.
 *
 * A process that executes a program keeps the largest memory that it had before, also memory that it shared
 * with who started it (setmax_mm_hiwater_rss in the kernel's exec_mmap). So what starts them is small. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FEWEST_ARGUMENTS = 5, CANNOT_WORK = 3 };

extern char **environ;

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t in_ns(struct timeval time) {
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

/* Write the line of one program; whether it could be started. */
static int launch(int fd, const char *path, char *const argv[], const posix_spawn_file_actions_t *streams) {
    struct rusage used;
    int status = 0;
    pid_t child = 0;
    int64_t began_ns = now_ns();
    int error = posix_spawn(&child, path, streams, NULL, argv, environ);
    if (error != 0) {
        (void)dprintf(fd, "errno %d\n", error);
        return 0;
    }
    while (wait4(child, &status, 0, &used) < 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    int64_t wall_ns = now_ns() - began_ns;
    int64_t cpu_ns = in_ns(used.ru_utime) + in_ns(used.ru_stime);
    (void)dprintf(fd, "%lld %lld %lld %d\n", (long long)wall_ns, (long long)cpu_ns,
                  (long long)used.ru_maxrss * 1024, status);
    return 1;
}

int main(int argc, char *argv[]) {
    posix_spawn_file_actions_t streams;
    if (argc < FEWEST_ARGUMENTS || posix_spawn_file_actions_init(&streams) != 0) {
        return CANNOT_WORK;
    }
    int fd = (int)strtol(argv[1], NULL, 10);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return CANNOT_WORK;
    }
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_RDWR, 0) != 0) {
            return CANNOT_WORK;
        }
    }
    char *nothing[] = {argv[2], NULL};
    if (!launch(fd, argv[2], nothing, &streams)) {
        return CANNOT_WORK;
    }
    return launch(fd, argv[2], nothing, &streams) && launch(fd, argv[3], &argv[4], &streams) ? 0
                                                                                             : CANNOT_WORK;
}
