#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "workloads/isolate/isolate.h"

enum { WORKER_STACK_BYTES = 128 << 10 };
static const int64_t PATIENCE_NS = 10000000000; /* an answer takes microseconds */

static uint32_t load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void isolate_ask(struct isolate_slot *slot, enum isolate_order order) {
    slot->order = order;
    __atomic_add_fetch(&slot->asked, 1U, __ATOMIC_RELEASE);
    sys_futex_wake(&slot->asked, 1, 1);
}

int isolate_await(struct isolate_slot *slot) {
    for (uint32_t seen = load(&slot->answered); seen != slot->asked; seen = load(&slot->answered)) {
        if (sys_futex_wait_for(&slot->answered, seen, PATIENCE_NS) == -ETIMEDOUT) {
            return -ETIMEDOUT;
        }
    }
    return 0;
}

/* A job: looks at its own data, which nobody else should have written. */
static void work(struct isolate_slot *self) {
    const unsigned char *data = self->isolate->data + (size_t)self->number * ISOLATE_DATA_BYTES;
    /* The victim may write what it likes in its own. */
    int damaged = 0;
    for (int i = 0; i < ISOLATE_DATA_BYTES && self->number != self->isolate->victim; i++) {
        damaged |= data[i] != ISOLATE_OWN(self->number);
    }
    self->damaged = damaged;
    self->done_ticks = clock_read().ticks;
}

void isolate_serve(struct isolate_slot *self) {
    self->task = sys_task();
    for (;;) {
        uint32_t obeyed = load(&self->answered);
        while (load(&self->asked) == obeyed) {
            sys_futex_wait(&self->asked, obeyed, 1);
        }
        if (self->order == ISOLATE_FAIL) {
            isolate_fail(self);
        } else {
            work(self);
        }
        __atomic_store_n(&self->answered, obeyed + 1, __ATOMIC_RELEASE);
        sys_futex_wake(&self->answered, 1, 1);
    }
}

/* What a process does before anything in it may fail: it dies with the supervisor, and dumps no core, to a
 * file or to a program (which RLIMIT_CORE does not keep from being started). */
static void be_mortal(const struct isolate *isolate) {
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != isolate->supervisor) {
        _exit(1);
    }
}

/* The first job waits for who comes. */
static void clear(struct isolate_slot *slot) {
    slot->answered = 0;
    slot->asked = 1;
    slot->order = ISOLATE_JOB;
    slot->damaged = 0;
    slot->task = 0;
}

int isolate_start_process(struct isolate_slot *slot) {
    clear(slot);
    pid_t pid = fork();
    if (pid == 0) {
        be_mortal(slot->isolate);
        isolate_serve(slot);
    }
    slot->pid = pid > 0 ? pid : 0;
    return pid < 0 ? -errno : 0;
}

static void *serve_as_thread(void *argument) {
    isolate_serve(argument);
}

/* The main thread starts the others and then sleeps; it is the parent that threads have. */
__attribute__((noreturn)) static void serve_threads(struct isolate *isolate) {
    be_mortal(isolate);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES) != 0) {
        _exit(1);
    }
    for (int i = 0; i < isolate->count; i++) {
        /* The victim's place first: that one is waited for. */
        int number = (isolate->victim + i) % isolate->count;
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve_as_thread, &isolate->slots[number]) != 0) {
            _exit(1);
        }
    }
    for (;;) {
        pause();
    }
}

int isolate_start_server(struct isolate *isolate) {
    for (int i = 0; i < isolate->count; i++) {
        clear(&isolate->slots[i]);
    }
    pid_t pid = fork();
    if (pid == 0) {
        serve_threads(isolate);
    }
    isolate->server = pid > 0 ? pid : 0;
    return pid < 0 ? -errno : 0;
}

static void end(pid_t *pid) {
    int status = 0;
    /* kill(0) would end the whole process group. */
    if (*pid > 0) {
        kill(*pid, SIGKILL);
        (void)sys_wait(*pid, &status);
        *pid = 0;
    }
}

void isolate_end_all(struct isolate *isolate) {
    end(&isolate->server);
    for (int i = 0; i < isolate->count; i++) {
        end(&isolate->slots[i].pid);
    }
}
