/* The listener sleeps from the probe's start to its end: rings are large enough for all of it, since reading
 * them while it measures would be load on another CPU. */
#include "tracer/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"

enum { SMALL_PIPE = 4096, MOST_ANSWER_BYTES = 256 << 20, CHUNK = 65536, EXEC_SHARE = 8 };

static const char ANSWER_WORD[] = "{traced fd}";

struct started {
    struct gated gated;
    int answer; /* its answer is read here */
};

int bytes_add(struct bytes *bytes, const void *data, size_t length) {
    if (bytes->data == NULL || bytes->length + length > bytes->room) {
        size_t room = 2 * (bytes->length + length);
        unsigned char *more = realloc(bytes->data, room);
        if (more == NULL) {
            return -ENOMEM;
        }
        bytes->data = more;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return 0;
}

struct child {
    char **arguments;
    int answer;
    bool traced; /* by ptrace */
};

/* In the child, once somebody listens. */
static bool prepare(const void *context) {
    static char number[16];
    const struct child *child = context;
    (void)fcntl(child->answer, F_SETFD, 0);
    snprintf(number, sizeof number, "%d", child->answer);
    for (char **word = child->arguments; *word != NULL; word++) {
        *word = strcmp(*word, ANSWER_WORD) == 0 ? number : *word;
    }
    return !child->traced || (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0);
}

/* Where the answer goes: both ends. */
static int open_answer(const struct listening *listening, int answer[2]) {
    if (listening->how == LISTEN_PTRACE) {
        /* Nobody reads while the program is stopped and started: a pipe would be full one day. */
        answer[1] = sys_memory_file("clonometer-answer", 0);
        if (answer[1] < 0) {
            return answer[1];
        }
        answer[0] = fcntl(answer[1], F_DUPFD_CLOEXEC, 0);
        if (answer[0] < 0 || fcntl(answer[1], F_SETFD, FD_CLOEXEC) != 0) {
            int error = -errno;
            close(answer[1]);
            return error;
        }
        return 0;
    }
    if (pipe2(answer, O_CLOEXEC) != 0) {
        return -errno;
    }
    /* So small that the probe, whose answer is its last act, waits for us once it answers: then its memory
     * can still be looked at, and not before, since looking takes the lock that its launches take. */
    (void)fcntl(answer[0], F_SETPIPE_SZ, SMALL_PIPE);
    return 0;
}

static int start(char **arguments, const struct listening *listening, struct started *started) {
    int answer[2];
    int failed = open_answer(listening, answer);
    if (failed != 0) {
        return failed;
    }
    const struct child child = {
        .arguments = arguments, .answer = answer[1], .traced = listening->how == LISTEN_PTRACE};
    const struct gated_words words = {
        .arguments = arguments, .ends_with_starter = true, .prepare = prepare, .context = &child};
    int error = gated_start(&words, &started->gated);
    close(answer[1]);
    if (error != 0) {
        close(answer[0]);
        return error;
    }
    started->answer = answer[0];
    return 0;
}

static void read_maps(struct heard *heard, pid_t pid) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    if (sys_read_file(path, heard->maps, sizeof heard->maps) < 0) {
        heard->maps[0] = '\0';
    }
}

static void await_answer(struct heard *heard, const struct started *started) {
    struct pollfd readable = {.fd = started->answer, .events = POLLIN};
    while (poll(&readable, 1, -1) < 0 && errno == EINTR) {
    }
    read_maps(heard, started->gated.pid);
}

static int read_answer(struct heard *heard, const struct started *started) {
    static unsigned char chunk[CHUNK];
    for (;;) {
        ssize_t length = read(started->answer, chunk, sizeof chunk);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            return length == 0 ? 0 : -errno;
        }
        if (heard->answer.length + (size_t)length > MOST_ANSWER_BYTES) {
            return -EFBIG;
        }
        int error = bytes_add(&heard->answer, chunk, (size_t)length);
        if (error != 0) {
            return error;
        }
    }
}

static void read_pair(const struct listening *listening, uint64_t pair[2]) {
    if (listening->tsc) {
        clock_used.kind = CLOCK_KIND_TSC;
        clock_read_pair(CLOCK_MONOTONIC, &pair[0], &pair[1]);
    } else {
        pair[0] = pair[1] = clock_read_monotonic().ticks;
    }
}

static int open_rings(const struct listening *listening, pid_t pid, struct rings *rings, struct fast *fast,
                      struct reason *reason) {
    const clockid_t clock = CLOCK_MONOTONIC;
    rings->sample_period_ns = listening->sample_period_ns;
    rings->set = listening->how == LISTEN_ALL ? listening->counters : NULL;
    if (listening->how == LISTEN_ALL) {
        return rings_open(rings, listening->wanted, listening->ring_bytes, clock, reason);
    }
    if (listening->how == LISTEN_FAST) {
        int error = rings_open(rings, RINGS_EXEC, listening->ring_bytes / EXEC_SHARE, clock, reason);
        error = error != 0 ? error
                           : fast_open(fast, listening->wanted, listening->ring_bytes, listening->most_run,
                                       &listening->marks, reason);
        if (error != 0) {
            rings_close(rings);
        }
        return error;
    }
    return listening->how == LISTEN_OWN ? rings_open_own(rings, pid, listening->ring_bytes, clock, reason)
                                        : 0;
}

int listen_try(const struct listening *listening, struct reason *reason) {
    struct rings rings = {.count = 0};
    struct fast fast = {.map = -1};
    int error = open_rings(listening, getpid(), &rings, &fast, reason);
    if (error == 0) {
        rings_close(&rings);
        fast_close(&fast);
    }
    return error;
}

/* Of one that was followed the end has been waited for. */
static void end(struct started *started, int *exit_status, bool kill_it) {
    int status = 0;
    close(started->answer);
    if (kill_it) {
        status = gated_kill(&started->gated);
        *exit_status = status >= 0 ? status : *exit_status;
    } else if (started->gated.pid > 0 && sys_wait(started->gated.pid, &status) == 0) {
        *exit_status = gated_take(&started->gated, status);
    }
}

static int hear(const struct listening *listening, struct started *started, struct rings *rings,
                struct fast *fast, struct heard *heard, struct reason *reason) {
    read_pair(listening, heard->pairs[0]);
    rings_start(rings);
    int error = gated_release(&started->gated);
    if (error == 0 && listening->how == LISTEN_PTRACE) {
        error = follow_calls(&started->gated, heard, reason);
        /* The analyzer does not know that a pipe2 which fails sets errno, and goes on from there. */
        (void)lseek(started->answer, 0, SEEK_SET); // NOLINT(clang-analyzer-unix.StdCLibraryFunctions)
    } else if (error == 0) {
        error = listening->window_ns != 0
                    ? windows_alternate(&heard->windows, started->answer, listening->window_ns, rings, fast)
                    : 0;
        await_answer(heard, started);
    }
    error = error != 0 ? error : read_answer(heard, started);
    end(started, &heard->exit_status, error != 0);
    rings_stop(rings);
    read_pair(listening, heard->pairs[1]);
    rings_drain(rings, collection_take, &heard->collection);
    heard->lost = rings_lost(rings) + heard->collection.dropped;
    heard->whole[1] = rings->whole_to_ns;
    if (listening->how == LISTEN_FAST) {
        heard->lost += fast_stop(fast, collection_take, &heard->collection);
        heard->missed = fast_missed(fast);
        heard->whole[0] = fast->whole_from_ns;
        heard->left_out = fast->left_out;
        memcpy(heard->marks_refused, fast->marks.refused, sizeof heard->marks_refused);
    }
    return error != 0 && reason->text[0] == '\0'
               ? reason_set(reason, error, "the probe's answer cannot be read: %s", strerror(-error))
               : error;
}

int listen_to(const struct listening *listening, char **arguments, struct heard *heard,
              struct reason *reason) {
    struct rings rings = {.count = 0};
    static struct fast fast = {.map = -1};
    struct started started;
    int error = start(arguments, listening, &started);
    if (error != 0) {
        return reason_set(reason, error, "%s cannot be started: %s", arguments[0], strerror(-error));
    }
    heard->process = started.gated.pid;
    error = open_rings(listening, started.gated.pid, &rings, &fast, reason);
    heard->counters = rings.counters;
    memcpy(heard->counted, rings.counted, sizeof heard->counted);
    memcpy(heard->refused, rings.refused, sizeof heard->refused);
    if (error != 0) {
        end(&started, &heard->exit_status, true);
        return error;
    }
    error = hear(listening, &started, &rings, &fast, heard, reason);
    rings_close(&rings);
    fast_close(&fast);
    if (error == 0 && started.gated.not_started != 0) {
        return reason_set(reason, -started.gated.not_started, "%s cannot be started: %s", arguments[0],
                          strerror(started.gated.not_started));
    }
    error = error != 0 ? error : collection_order(&heard->collection);
    error = error != 0 ? error : collection_name_tasks(&heard->collection);
    if (error == 0 && listening->how != LISTEN_PTRACE) {
        error = collection_keep_family(&heard->collection, heard->process, &heard->task);
    }
    return error == 0 ? 0 : reason_set(reason, error, "the events cannot be stored: %s", strerror(-error));
}
