#include "workloads/launch/remover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

enum { PATIENCE_STEPS = 500, STEP_NS = 10000000, LOWEST_TO_CLOSE = 3, MOST_TO_CLOSE = 1024 };

/* A program of its own, since a mere fork would share the parent's pages for as long as it lives, and so
 * change what is measured; a session of its own, since whoever kills the probe may kill its session. */
static int start(struct remover *remover, const char *directory) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    char word[] = REMOVER_WORD;
    char name[] = "clonometer-remover";
    char *arguments[] = {name, word, (char *)directory, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    /* What ends a terminal's or a service's programs must not end it: blocked before its first instruction,
     * for as long as it lives. */
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&remover->pid, sys_own_program(), &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    remover->pipe = ends[1];
    if (error != 0) {
        close(ends[1]);
    }
    return -error;
}

int remover_start(struct remover *remover, const char *directory) {
    /* Said before there is a remover: until then the runner alone can remove it. */
    dprintf(STDERR_FILENO, REMOVER_KEEPS "%s\n", directory);
    int error = start(remover, directory);
    if (error != 0) {
        (void)rmdir(directory);
    }
    return error;
}

/* Removes the files of a folder; what is a folder itself stays. */
static void remove_files(const char *directory) {
    DIR *folder = opendir(directory);
    if (folder == NULL) {
        return;
    }
    const struct dirent *entry;
    int at = dirfd(folder);
    while (at >= 0 && (entry = readdir(folder)) != NULL) {
        (void)unlinkat(at, entry->d_name, 0);
    }
    closedir(folder);
}

/* Removes the directory, with patience for tasks that are just leaving. 0 or -errno. */
static int remove_directory(const char *directory) {
    int error = 0;
    for (int i = 0; i < PATIENCE_STEPS; i++) {
        if (rmdir(directory) == 0 || errno == ENOENT) {
            return 0;
        }
        error = -errno;
        if (errno == ENOTEMPTY) {
            remove_files(directory);
        }
        struct timespec pause = {.tv_nsec = STEP_NS};
        nanosleep(&pause, NULL);
    }
    return error;
}

int remover_end(const struct remover *remover, const char *directory) {
    int status = 0;
    close(remover->pipe);
    int error = sys_wait(remover->pid, &status);
    if (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    error = remove_directory(directory);
    if (error != 0) {
        dprintf(STDERR_FILENO, "probe: %s could not be removed: %s\n", directory, strerror(-error));
    }
    return error;
}

int remover_main(const char *directory) {
    /* Started from /proc/self/exe it would be called `exe` in lists of processes. */
    prctl(PR_SET_NAME, "clonometer-remover");
    /* The runner waits for the end of the answer, which must not wait for us. */
    for (int fd = LOWEST_TO_CLOSE; fd < MOST_TO_CLOSE; fd++) {
        close(fd);
    }
    char byte;
    ssize_t got;
    do {
        got = read(STDIN_FILENO, &byte, 1);
    } while (got > 0 || (got < 0 && errno == EINTR));
    return remove_directory(directory) == 0 ? 0 : 1;
}
