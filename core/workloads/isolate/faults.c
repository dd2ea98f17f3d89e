/* The ways to fail. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "probe/parent/parts.h"
#include "workloads/isolate/isolate.h"

enum { STEP_BYTES = 4096, BLOCK_BYTES = 64 << 10, PATIENCE_SECONDS = 10 };

static void write_to_nowhere(void) {
    /* Read at run time, so that the compiler cannot know that this goes wrong. */
    static char *volatile nowhere = (char *)16;
    *(volatile char *)nowhere = 1;
}

/* A loop that does not know when to stop: into the page behind the buffer that nobody may touch. */
static void overrun(unsigned char *start, size_t bytes) {
    volatile unsigned char *at = start;
    for (size_t i = 0; i < bytes; i++) {
        at[i] = ISOLATE_FOREIGN;
    }
}

/* Allocates and never frees until the limit is met, then does what programs do that check: it gives up. */
static void leak(struct isolate_slot *self) {
    char text[256];
    long pages = sys_read_file("/proc/self/statm", text, sizeof text) > 0 ? strtol(text, NULL, 10) : 0;
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ISOLATE_LEAK_BYTES;
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        _exit(EPERM);
    }
    /* The limit ends this; the count bounds it where it is not enforced. */
    for (int i = 0; i < 4 * ISOLATE_LEAK_BYTES / BLOCK_BYTES; i++) {
        volatile char *block = malloc(BLOCK_BYTES);
        if (block == NULL) {
            break;
        }
        for (int at = 0; at < BLOCK_BYTES; at += STEP_BYTES) {
            block[at] = 1;
        }
    }
    self->fault_ticks = clock_read().ticks;
    _exit(ENOMEM);
}

void isolate_fail(struct isolate_slot *self) {
    const struct isolate *isolate = self->isolate;
    /* Whatever does not work out ends all the same. */
    alarm(PATIENCE_SECONDS);
    self->fault_ticks = clock_read().ticks;
    switch (isolate->request->fault) {
    case FAULT_SEGFAULT:
        write_to_nowhere();
        break;
    case FAULT_ABORT:
        abort();
    case FAULT_OVERRUN_GUARD:
        overrun(isolate->guarded, (size_t)parent_small_page_bytes() + 1);
        break;
    case FAULT_OVERRUN_NEIGHBOUR:
        overrun(isolate->data + (size_t)self->number * ISOLATE_DATA_BYTES,
                ISOLATE_DATA_BYTES + ISOLATE_OVERRUN_BYTES);
        break;
    case FAULT_LEAK:
        leak(self);
        break;
    default:
        break;
    }
    alarm(0);
}
