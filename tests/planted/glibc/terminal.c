/* Starts what wants a terminal. */
#define _GNU_SOURCE
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

static void launch(int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    char *command[] = {"/bin/true", text, NULL};
    int terminal;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    close(terminal);
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int words, char **word) {
    int count = words > 2 ? atoi(word[1]) : 0;
    size_t bytes = words > 2 ? (size_t)atoi(word[2]) << 20 : 0;
    char *catalogue = malloc(bytes + 1);
    memset(catalogue, 'x', bytes + 1);
    long long began = now_ns();
    for (int number = 0; number < count; number++) {
        launch(number);
    }
    printf("%lld\n", now_ns() - began);
    return catalogue[bytes] != 'x';
}
