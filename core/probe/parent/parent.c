#include "probe/parent/parent.h"

#include <errno.h>

#include "probe/parent/parts.h"
#include "workloads/caches/caches.h"

/* Numbers beyond these are mistakes; below them no sum of sizes overflows. */
static const int64_t MOST_BYTES = (int64_t)1 << 50;
static const int64_t MOST_THINGS = 100000000;
/* Longer than anybody waits for a single launch. */
static const int64_t MOST_SLEEP_NS = 10000000000;

static int check_sizes(const struct request *request, struct reason *reason) {
    const struct {
        const char *axis;
        int64_t value;
        int64_t most;
    } sizes[] = {{"parent_bytes", request->parent_bytes, MOST_BYTES},
                 {"vmas", request->vmas, MOST_THINGS},
                 {"open_files", request->open_files, MOST_THINGS},
                 {"parent_threads", request->parent_threads, MOST_THINGS},
                 {"fork_handlers", request->fork_handlers, MOST_THINGS},
                 {"reap_after_ns", request->reap_after_ns, MOST_SLEEP_NS},
                 {"nofile", request->nofile, MOST_THINGS}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].value > sizes[i].most) {
            return reason_set(reason, -ENOMEM, "larger than any machine allows: %s=%lld; at most %lld",
                              sizes[i].axis, (long long)sizes[i].value, (long long)sizes[i].most);
        }
    }
    return 0;
}

/* Conditions that contradict each other are refused, not bent. */
static int check_sense(const struct request *request, struct reason *reason) {
    bool untouched = (request->page_kind == PAGE_KIND_UNTOUCHED && request->parent_bytes > 0) ||
                     (request->vma_kind == VMA_UNTOUCHED && request->vmas > 0);
    if (request->mlockall != 0 && untouched) {
        return reason_set(
            reason, -EOPNOTSUPP,
            "mlockall touches all memory, so nothing stays untouched: choose another page_kind or vma_kind");
    }
    int error = parent_page_kind_available(request->page_kind, reason);
    error = error != 0 ? error : parent_sched_class_available(request->sched_class, reason);
    return error != 0 ? error : parent_close_files_available(request->close_files, reason);
}

int parent_check(const struct request *request, struct reason *reason) {
    int error = check_sizes(request, reason);
    return error != 0 ? error : check_sense(request, reason);
}

int parent_build(struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    struct limits_need need;
    parent_need(request, &need);
    int error = limits_check("", &need, reason);
    error = error != 0 ? error : caches_build(bench, reason);
    error = error != 0 ? error : parent_memory_build(bench, reason);
    error = error != 0 ? error : parent_areas_build(bench, reason);
    error = error != 0 ? error : parent_files_build(bench, reason);
    error = error != 0 ? error : parent_handlers_build(bench, reason);
    error = error != 0 ? error : parent_threads_build(bench, reason);
    /* What restricts this process comes after all it needs has been made. */
    error = error != 0 ? error : parent_lock_memory(bench, reason);
    error = error != 0 ? error : parent_files_limit(bench, reason);
    error = error != 0 ? error : parent_set_class(bench, reason);
    bench->parent.touches =
        request->pages != PAGES_CLEAN && (bench->parent.memory_step > 0 || bench->parent.areas != NULL);
    bench->parent.prepares = bench->parent.touches || request->caches != CACHES_HOT;
    if (error != 0) {
        parent_end(bench);
    }
    return error;
}

void parent_end(struct bench *bench) {
    parent_threads_end(bench);
    caches_end(bench);
}

static int touch(struct bench *bench) {
    if (bench->request->pages == PAGES_FIRST) {
        int error = parent_areas_renew(bench);
        return error != 0 ? error : parent_memory_renew(bench);
    }
    parent_areas_touch(bench);
    parent_memory_touch(bench);
    return 0;
}

int parent_before_launch(struct bench *bench) {
    int error = bench->parent.touches ? touch(bench) : 0;
    return error != 0 ? error : caches_before_launch(bench);
}
