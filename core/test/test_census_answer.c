/* A reader that is stopped holds nobody up; in the end it gets all that was kept for it, in order. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census/answer.h"
#include "check.h"

enum { MOST_LINES = 8000000, ROOM = 64 };

/* Reads all, and says by its exit status whether it was what is expected. */
static void read_all(int pipe_end, long lines) {
    FILE *file = fdopen(pipe_end, "r");
    char line[ROOM];
    long next = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL && strtol(line, NULL, 10) == next) {
        next++;
    }
    _exit(next == lines && (file == NULL || feof(file)) ? 0 : 1);
}

int main(void) {
    int ends[2];
    char line[ROOM];
    long lines = 0;
    int status = 0;
    CHECK(pipe2(ends, O_CLOEXEC) == 0, "a pipe");
    answer_begin(ends[1]);
    for (; lines < MOST_LINES && !answer_is_full(); lines++) {
        int length = snprintf(line, sizeof line, "%ld of the lines that nobody reads\n", lines);
        CHECK(answer_add(ends[1], line, (size_t)length) == 0, "a line");
        if (lines % 1000 == 0) {
            CHECK(answer_send(ends[1]) == 0, "what the reader takes");
        }
    }
    CHECK(lines < MOST_LINES, "there is a bound");
    pid_t reader = fork();
    if (reader == 0) {
        close(ends[1]);
        read_all(ends[0], lines);
    }
    close(ends[0]);
    CHECK(answer_await(ends[1]) == 0, "it reads again");
    close(ends[1]);
    CHECK(waitpid(reader, &status, 0) == reader && status == 0, "all lines, in order");
    return 0;
}
