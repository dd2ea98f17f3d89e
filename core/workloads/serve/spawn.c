/* serve.spawn: a program for each connection, which is its standard input, as inetd and CGI start them. The
 * program is the probe, asked to answer one connection: it has none of the server's memory, and what a
 * request writes is memory of its own. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "workloads/serve/serve.h"

enum { NUMBERS = 6, DIGITS_BYTES = 24, PATH_BYTES = 1024 };

/* What each program is started with, in memory of its own: see struct program. */
static struct start {
    posix_spawn_file_actions_t actions;
    int connection; /* the descriptor that the actions name */
    char program[PATH_BYTES];
    char word[sizeof SERVE_PROGRAM_WORD];
    char words[NUMBERS][DIGITS_BYTES];
    char *arguments[NUMBERS + 3];
} *start;

static int processes(const struct serve *serve) {
    (void)serve;
    return 0;
}

static void serve_all(struct serve *serve, int number) {
    int children = 0;
    serve_ready(serve, number);
    while (!serve_over(serve)) {
        int fd = serve_accept(serve, serve->listeners[0], 0);
        if (fd < 0) {
            continue;
        }
        if (fd != start->connection) {
            fd = dup3(fd, start->connection, O_CLOEXEC);
        }
        pid_t pid = 0;
        static char *const NO_ENVIRONMENT[] = {NULL};
        bool started = posix_spawn(&pid, start->arguments[0], &start->actions, NULL, start->arguments,
                                   NO_ENVIRONMENT) == 0;
        close(fd);
        children = serve_reap(serve, children + started, WNOHANG);
    }
    while (children > 0 && serve->client > 0) {
        children = serve_reap(serve, children, 0);
    }
}

static const struct serve_design DESIGN = {
    .processes = processes, .serve = serve_all, .connection_dies_alone = true, .starts_programs = true};

/* Made before anything is measured: the list of actions is on the heap. */
static int prepare(struct bench *bench, struct reason *reason) {
    int error = serve_prepare(bench, reason);
    if (error != 0) {
        return error;
    }
    start = mmap(NULL, sizeof *start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        serve_finish(bench);
        return reason_set(reason, -ENOMEM, "no memory for the words of programs");
    }
    const struct serve *serve = bench->state;
    const int64_t numbers[NUMBERS] = {(int64_t)serve->iterations, serve->block_ns,     serve->dirtied_bytes,
                                      (int64_t)serve->body_bytes, serve->crash_number, serve->kept};
    memcpy(start->word, SERVE_PROGRAM_WORD, sizeof start->word);
    snprintf(start->program, sizeof start->program, "%s", sys_own_program());
    start->arguments[0] = start->program;
    start->arguments[1] = start->word;
    for (int i = 0; i < NUMBERS; i++) {
        snprintf(start->words[i], DIGITS_BYTES, "%lld", (long long)numbers[i]);
        start->arguments[2 + i] = start->words[i];
    }
    /* The lowest that is free is what accept will return. */
    start->connection = dup(serve->listeners[0]);
    close(start->connection);
    error = posix_spawn_file_actions_init(&start->actions);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(&start->actions, start->connection, 0);
    if (error != 0) {
        serve_finish(bench);
        return reason_set(reason, -error, "programs cannot be started: %s", strerror(error));
    }
    return 0;
}

int serve_program_main(int count, char **words) {
    enum { ITERATIONS, BLOCK, DIRTIED, BODY, CRASH, KEPT };
    int64_t numbers[NUMBERS];
    if (count != NUMBERS) {
        return 2;
    }
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = strtoll(words[i], NULL, 10);
    }
    clock_used = (struct clock){.kind = CLOCK_KIND_MONOTONIC, .hz = 1000000000};
    struct serve serve = {.iterations = (uint64_t)numbers[ITERATIONS],
                          .block_ns = numbers[BLOCK],
                          .dirtied_bytes = numbers[DIRTIED],
                          .body_bytes = (size_t)numbers[BODY],
                          .crash_number = numbers[CRASH],
                          .kept = numbers[KEPT] != 0};
    size_t bytes = serve.body_bytes + (size_t)serve.dirtied_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes > 0 && memory == MAP_FAILED) {
        return 1;
    }
    serve.memory = memory;
    serve.body = (char *)memory + serve.dirtied_bytes;
    serve_connection(&serve, STDIN_FILENO);
    return 0;
}

const struct workload serve_spawn = {
    .id = "serve.spawn",
    SERVE_FACTS,
    .summary = "a server that starts a program for each connection by posix_spawn()",
    .axes = SERVE_AXES,
    .about = &DESIGN,
    .prepare = prepare,
};
