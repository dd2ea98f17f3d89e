#include "hooks/call.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILE_BYTES = 64 * 1024 * 1024, NANOSECONDS = 1000000000, PATH_BYTES = 512, NUMBER_BYTES = 24 };

static char path[PATH_BYTES];

bool call_wanted(void) {
    const char *wanted = getenv("CLONOMETER_CALLS");
    if (wanted == NULL || strlen(wanted) >= sizeof path) {
        return false;
    }
    memcpy(path, wanted, strlen(wanted) + 1);
    return path[0] != '\0';
}

void *call_symbol(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
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
    clock_gettime(CLOCK_MONOTONIC, &now);
    call->length = 0;
    call->frames = 0;
    add(call, runtime);
    separate(call, '\t');
    snprintf(number, sizeof number, "%" PRIu64, (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec);
    add(call, number);
    separate(call, '\t');
    snprintf(number, sizeof number, "%ld", syscall(SYS_gettid));
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

/* The file is opened each time: a program that closes all its descriptors must not find ours in the place of
 * its own. */
void call_write(struct call *call) {
    struct stat status;
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return; /* The census has gone, or cannot be seen from here. */
    }
    call->text[call->length++] = '\n';
    if (fstat(file, &status) == 0 && status.st_size < MOST_FILE_BYTES) {
        (void)!write(file, call->text, call->length);
    }
    close(file);
}
