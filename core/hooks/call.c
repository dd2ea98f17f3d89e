#include "hooks/call.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000, NUMBER_BYTES = 24, SECRET_BYTES = 32, DECIMAL = 10 };
/* What a packet says after the secret. */
enum { FIRST_THREAD = '1', OTHER_THREAD = '0' };

/* Who wants to be told, as CLONOMETER_CALLS says it: NAME:SECRET:UID:FILTER. */
static struct {
    struct sockaddr_un name; /* abstract: there is no file */
    socklen_t name_bytes;
    char secret[SECRET_BYTES]; /* whoever has this was started with the variable */
    uid_t user;
    int filter; /* its own mode of seccomp */
} listener;

bool call_wanted(void) {
    const char *name = getenv("CLONOMETER_CALLS");
    size_t length = name != NULL ? strcspn(name, ":") : 0;
    if (length == 0 || length >= sizeof listener.name.sun_path || name[length] == '\0') {
        return false;
    }
    const char *secret = name + length + 1;
    char *end;
    if (strnlen(secret, SECRET_BYTES) < SECRET_BYTES || secret[SECRET_BYTES] != ':') {
        return false;
    }
    unsigned long user = strtoul(secret + SECRET_BYTES + 1, &end, DECIMAL);
    if (*end != ':') {
        return false;
    }
    listener.name.sun_family = AF_UNIX;
    memcpy(listener.name.sun_path + 1, name, length);
    listener.name_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    memcpy(listener.secret, secret, SECRET_BYTES);
    listener.user = (uid_t)user;
    listener.filter = (int)strtol(end + 1, NULL, DECIMAL);
    return true;
}

void *call_symbol(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

bool call_symbols(void **places, const char *const *names, size_t count, size_t needed) {
    for (size_t i = 0; i < count; i++) {
        places[i] = call_symbol(names[i]);
        if (places[i] == NULL && i < needed) {
            return false;
        }
    }
    return true;
}

/* Room is kept for the end of the line. What separates words and frames must not be in one. */
static void add(struct call *call, const char *text) {
    for (; text != NULL && *text != '\0' && call->length < sizeof call->text - 1; text++) {
        bool separates = *text == '\t' || *text == '\n' || *text == '\x1f';
        call->text[call->length++] = separates ? ' ' : *text;
    }
}

static void separate(struct call *call, char by) {
    if (call->length < sizeof call->text - 1) {
        call->text[call->length++] = by;
    }
}

void call_begin(struct call *call, const char *runtime, const char *makes, const char *event) {
    char number[NUMBER_BYTES];
    struct timespec now;
    long thread = syscall(SYS_gettid);
    clock_gettime(CLOCK_MONOTONIC, &now);
    call->length = 0;
    call->frames = 0;
    call->of_first_thread = thread == getpid();
    add(call, runtime);
    separate(call, '\t');
    snprintf(number, sizeof number, "%" PRIu64, (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec);
    add(call, number);
    separate(call, '\t');
    snprintf(number, sizeof number, "%ld", thread);
    add(call, number);
    separate(call, '\t');
    add(call, makes);
    separate(call, '\t');
    add(call, event);
}

bool call_add(struct call *call, const struct call_frame *frame) {
    char line[NUMBER_BYTES];
    size_t before = call->length;
    snprintf(line, sizeof line, "%ld", frame->line > 0 ? frame->line : 0);
    separate(call, '\t');
    separate(call, frame->library ? 'L' : 'P');
    add(call, frame->module);
    separate(call, '\x1f');
    add(call, frame->function);
    separate(call, '\x1f');
    add(call, frame->file);
    separate(call, '\x1f');
    add(call, line);
    if (call->length == sizeof call->text - 1) {
        call->length = before; /* A frame that was cut would be none. */
        return false;
    }
    return ++call->frames < CALL_MOST_FRAMES;
}

void call_add_written(struct call *call, const char *frames) {
    size_t room = sizeof call->text - 1 - call->length;
    size_t length = strlen(frames);
    if (room == 0) {
        return;
    }
    call->text[call->length++] = '\t';
    if (length > room - 1) { /* A frame that was cut would be none. */
        for (length = room - 1; length > 0 && frames[length] != '\t'; length--) {
        }
    }
    memcpy(call->text + call->length, frames, length);
    call->length += length;
}

/* Once the census has gone, anybody may take its name: nothing is said to another user. Who sees users by
 * other numbers, in a user namespace of its own, knows itself. */
static bool is_listener(int connection) {
    struct ucred who;
    socklen_t bytes = sizeof who;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
           (who.uid == listener.user || who.uid == geteuid());
}

/* Nothing is kept open: a program that closes all its descriptors must not find ours in the place of its own.
 * Nothing waits, raises a signal or makes a file; where the census has gone, has no room, or cannot be seen
 * from here, the call is not told. A program that was put under a filter of system calls meanwhile may be
 * killed by the first of these. */
void call_write(const struct call *call) {
    /* The first thread has the number of its process, which the kernel knows in the census's namespace too.
     */
    char thread = call->of_first_thread ? FIRST_THREAD : OTHER_THREAD;
    struct iovec parts[] = {{.iov_base = listener.secret, .iov_len = SECRET_BYTES},
                            {.iov_base = &thread, .iov_len = 1},
                            {.iov_base = (char *)call->text, .iov_len = call->length}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = sizeof parts / sizeof *parts};
    int error = errno;
    bool may = prctl(PR_GET_SECCOMP) == listener.filter;
    int connection = may ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (connection >= 0) {
        if (connect(connection, (const struct sockaddr *)&listener.name, listener.name_bytes) == 0 &&
            is_listener(connection)) {
            (void)!sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        close(connection);
    }
    errno = error;
}
