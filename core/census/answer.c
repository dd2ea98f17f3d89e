#include "census/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 1 << 16 /* as much as a pipe has */, MOST_KEPT = 32 << 20 };

static struct {
    char *bytes;
    size_t room;
    size_t sent; /* of the bytes, from the first */
    size_t length;
} kept;

/* Only a pipe has a reader to wait for; a terminal or file is not ours to change for others. */
static void set_waiting(int answer, bool waits) {
    struct stat file;
    int flags = fcntl(answer, F_GETFL);
    if (fstat(answer, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode)) && flags >= 0) {
        (void)fcntl(answer, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
    }
}

void answer_begin(int answer) {
    set_waiting(answer, false);
}

bool answer_is_full(void) {
    return kept.length - kept.sent > MOST_KEPT;
}

int answer_send(int answer) {
    while (kept.sent < kept.length) {
        ssize_t got = write(answer, kept.bytes + kept.sent, kept.length - kept.sent);
        if (got < 0 && errno == EAGAIN) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            /* Nobody will ever read it. */
            kept.sent = kept.length = 0;
            return -errno;
        }
        kept.sent += got > 0 ? (size_t)got : 0;
    }
    kept.sent = kept.length = 0;
    return 0;
}

static int make_room(size_t length) {
    /* Moved only where that gives as much as it takes. */
    if (kept.sent > 0 && kept.sent >= kept.length - kept.sent) {
        memmove(kept.bytes, kept.bytes + kept.sent, kept.length - kept.sent);
        kept.length -= kept.sent;
        kept.sent = 0;
    }
    size_t room = kept.room > 0 ? kept.room : (size_t)2 * ROOM;
    while (room < kept.length + length) {
        room *= 2;
    }
    char *more = room > kept.room ? realloc(kept.bytes, room) : kept.bytes;
    if (more == NULL) {
        return -ENOMEM;
    }
    kept.bytes = more;
    kept.room = room;
    return 0;
}

int answer_add(int answer, const char *line, size_t length) {
    int error = kept.length + length > kept.room ? make_room(length) : 0;
    if (error != 0) {
        return error;
    }
    size_t before = (kept.length - kept.sent) / ROOM;
    memcpy(kept.bytes + kept.length, line, length);
    kept.length += length;
    return (kept.length - kept.sent) / ROOM > before ? answer_send(answer) : 0;
}

int answer_await(int answer) {
    set_waiting(answer, true);
    return answer_send(answer);
}
