#include "workloads/launch/thread_stack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/limits/limits.h"
#include "probe/parent/parts.h"

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAS_CACHE_TUNABLE 1
#endif
#endif

enum { SMALLEST_STACK = 16384, ROUNDS = 2 };

const char *thread_tunables(const struct request *request) {
#ifdef HAS_CACHE_TUNABLE
    bool cold = request->stack_cache == STACK_CACHE_COLD && request->stack_kind == STACK_LIBRARY;
    return cold ? "glibc.pthread.stack_cache_size=0" : NULL;
#else
    (void)request;
    return NULL;
#endif
}

int thread_stack_cache_available(int64_t stack_cache, struct reason *reason) {
    /* musl keeps no stacks at all: what is asked for is what it always does. */
#if defined(__GLIBC__) && !defined(HAS_CACHE_TUNABLE)
    if (stack_cache == STACK_CACHE_COLD) {
        return reason_set(reason, -EOPNOTSUPP, "only glibc 2.34 or newer can be set to keep no stacks");
    }
#endif
    (void)stack_cache;
    (void)reason;
    return 0;
}

int thread_stack_kind_available(int64_t stack_kind, struct reason *reason) {
    return stack_kind != STACK_USER_HUGE || parent_huge_page_bytes() > 0
               ? 0
               : reason_set(reason, -EOPNOTSUPP, "this kernel has no transparent huge pages");
}

/* Maps `length` bytes that start at a multiple of `step`, and `guard` bytes below them that nobody can touch.
 */
static unsigned char *map_aligned(size_t length, size_t step, size_t guard) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    unsigned char *all = mmap(NULL, guard + length + step, PROT_NONE, flags, -1, 0);
    if (all == MAP_FAILED) {
        return NULL;
    }
    uintptr_t lowest = (uintptr_t)all + guard;
    size_t unused = (step - lowest % step) % step;
    unsigned char *start = all + guard + unused;
    if (unused > 0) {
        munmap(all, unused);
    }
    munmap(start + length, step - unused);
    return mprotect(start, length, PROT_READ | PROT_WRITE) == 0 ? start : NULL;
}

int thread_stack_renew(struct thread_settings *settings) {
    if (settings->stack != NULL) {
        munmap(settings->stack - settings->guard_bytes, settings->guard_bytes + settings->stack_bytes);
    }
    int64_t step = settings->huge ? parent_huge_page_bytes() : parent_small_page_bytes();
    settings->stack = map_aligned(settings->stack_bytes, (size_t)step, settings->guard_bytes);
    if (settings->stack == NULL) {
        return -errno;
    }
    /* EINVAL: a kernel without huge pages, which is what a small stack asks for. */
    if (madvise(settings->stack, settings->stack_bytes, settings->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) !=
            0 &&
        (settings->huge || errno != EINVAL)) {
        return -errno;
    }
    return -pthread_attr_setstack(&settings->attributes, settings->stack, settings->stack_bytes);
}

/* Writes the whole stack and asks the kernel what it consists of. */
static int touch_and_verify(const struct thread_settings *settings, struct reason *reason) {
    struct parent_region region;
    int64_t wanted = (int64_t)settings->stack_bytes;
    for (int round = 0; round < ROUNDS; round++) {
        memset(settings->stack, round + 1, settings->stack_bytes);
    }
    int error = parent_region_read(settings->stack, settings->stack_bytes, &region);
    if (error != 0) {
        return reason_set(reason, error, "/proc/self/smaps does not show the thread's stack: %s",
                          strerror(-error));
    }
    bool right =
        region.rss_bytes >= wanted && (settings->huge ? region.huge_bytes >= wanted : region.huge_bytes == 0);
    return right ? 0
                 : reason_set(
                       reason, -ENOMEM,
                       "asked for a stack of %lld kB in %s pages, but %lld kB are resident and %lld kB huge",
                       (long long)wanted >> 10, settings->huge ? "huge" : "small",
                       (long long)region.rss_bytes >> 10, (long long)region.huge_bytes >> 10);
}

static int build_own_stack(struct thread_settings *settings, struct reason *reason) {
    int64_t step = settings->huge ? parent_huge_page_bytes() : parent_small_page_bytes();
    if (step <= 0) {
        return thread_stack_kind_available(STACK_USER_HUGE, reason);
    }
    settings->stack_bytes = (settings->stack_bytes + (size_t)step - 1) / (size_t)step * (size_t)step;
    struct limits_need need = {.memory_bytes = (int64_t)settings->stack_bytes,
                               .address_bytes = (int64_t)settings->stack_bytes + step,
                               .tasks = 1};
    int error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    error = thread_stack_renew(settings);
    if (error != 0) {
        return reason_set(reason, error, "a stack of %zu bytes cannot be mapped: %s", settings->stack_bytes,
                          strerror(-error));
    }
    return touch_and_verify(settings, reason);
}

/* A stack is mapped whole and written only in part: what it needs is addresses. */
static int check_room(int64_t stack_bytes, struct reason *reason) {
    struct limits_need need = {.address_bytes = stack_bytes, .tasks = 1};
    int error = limits_check("", &need, reason);
    if (error != 0) {
        return error;
    }
    void *room =
        mmap(NULL, (size_t)stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        return reason_set(reason, -ENOMEM, "a process has no room for a stack of %lld bytes; ask for less",
                          (long long)stack_bytes);
    }
    munmap(room, (size_t)stack_bytes);
    return 0;
}

static int set_attributes(const struct request *request, struct thread_settings *settings,
                          struct reason *reason) {
    pthread_attr_t *attributes = &settings->attributes;
    pthread_attr_init(attributes);
    if (request->detached != 0) {
        pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    }
    if (request->guard == GUARD_NONE) {
        pthread_attr_setguardsize(attributes, 0);
    }
    if (request->stack_bytes > 0) {
        int error = check_room(request->stack_bytes, reason);
        if (error != 0) {
            return error;
        }
        long least = sysconf(_SC_THREAD_STACK_MIN);
        least = least > SMALLEST_STACK ? least : SMALLEST_STACK;
        if (request->stack_bytes < least ||
            pthread_attr_setstacksize(attributes, (size_t)request->stack_bytes) != 0) {
            return reason_set(reason, -EOPNOTSUPP, "stack_bytes=%lld: a stack has at least %ld bytes here",
                              (long long)request->stack_bytes, least);
        }
    }
    pthread_attr_getstacksize(attributes, &settings->stack_bytes);
    return 0;
}

int thread_settings_prepare(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    bool own_stack = request->stack_kind != STACK_LIBRARY;
    if (!own_stack && request->detached == 0 && request->guard == GUARD_LIBRARY &&
        request->stack_bytes == 0) {
        return 0;
    }
#ifdef __GLIBC__
    /* Its detached threads leave their stacks to the next thread, whatever the tunable says. */
    if (!own_stack && request->detached != 0 && request->stack_cache == STACK_CACHE_COLD) {
        return reason_set(reason, -EOPNOTSUPP,
                          "glibc always hands the stack of a detached thread on to the next one");
    }
#endif
    if (request->concurrency > 1 && request->launchers == LAUNCHERS_THREADS && request->detached != 0) {
        return reason_set(reason, -EOPNOTSUPP,
                          "launchers in one process cannot tell whose detached thread is left");
    }
    /* A page of its own, since static memory would reach into every other workload's fork. */
    struct thread_settings *settings =
        mmap(NULL, sizeof *settings, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (settings == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for a thread's attributes: %s", strerror(errno));
    }
    settings->huge = request->stack_kind == STACK_USER_HUGE;
    settings->guard_bytes = request->guard == GUARD_LIBRARY ? (size_t)parent_small_page_bytes() : 0;
    settings->fresh = own_stack && request->stack_cache == STACK_CACHE_COLD;
    bench->state = settings;
    int error = set_attributes(request, settings, reason);
    return error == 0 && own_stack ? build_own_stack(settings, reason) : error;
}
