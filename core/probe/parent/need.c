#include "probe/limits/limits.h"
#include "probe/parent/parent.h"
#include "probe/parent/parts.h"
#include "workloads/caches/caches.h"

/* Kernel memory of each thing, rounded up: of the parent and of a forked child's copy together. */
enum {
    AREA_BYTES = 1024,          /* vm_area_struct, anon_vma and its chain, maple tree nodes */
    HANDLER_BYTES = 128,        /* three addresses in a table that doubles as it grows */
    FILE_BYTES = 512,           /* struct file, its place in two descriptor tables */
    THREAD_KERNEL_BYTES = 40960 /* task_struct, kernel stack, the pages of its own stack that it writes */
};

/* Memory of parent_bytes, by what the kind makes of it. */
static void need_memory(const struct request *request, struct limits_need *need) {
    int64_t huge = parent_hugetlb_page_bytes();
    need->address_bytes = request->parent_bytes;
    switch (request->page_kind) {
    case PAGE_KIND_UNTOUCHED:
        need->commit_bytes = request->parent_bytes;
        return;
    case PAGE_KIND_HUGETLB:
        need->huge_pages = huge > 0 ? request->parent_bytes / huge : 0;
        return;
    case PAGE_KIND_FILE_PRIVATE:
        /* A page of the file, and the private copy of it. */
        need->memory_bytes = 2 * request->parent_bytes;
        need->commit_bytes = request->parent_bytes;
        return;
    case PAGE_KIND_SPARSE:
        /* A page and its page table, in the parent and in the child. */
        need->memory_bytes = 4 * parent_touched_bytes(request);
        need->commit_bytes = request->parent_bytes;
        return;
    case PAGE_KIND_SHARED:
    case PAGE_KIND_FILE_SHARED:
    case PAGE_KIND_FILE_PRIVATE_READ:
    case PAGE_KIND_FILE_SHARED_READ:
        need->memory_bytes = request->parent_bytes;
        return;
    default:
        need->memory_bytes = request->parent_bytes;
        need->commit_bytes = request->parent_bytes;
    }
}

void parent_need(const struct request *request, struct limits_need *need) {
    int64_t page = parent_small_page_bytes();
    *need = (struct limits_need){.tasks = 2 + request->parent_threads};
    need_memory(request, need);
    need->areas = request->vmas + 2 * request->parent_threads;
    need->files = request->file_kind == FILE_DISTINCT ? request->open_files : 0;
    /* The limit that is set contains the probe's own descriptors, the number of open files does not. */
    need->descriptors = request->nofile - LIMITS_OWN_DESCRIPTORS > request->open_files
                            ? request->nofile - LIMITS_OWN_DESCRIPTORS
                            : request->open_files;
    need->memory_bytes += request->vmas * AREA_BYTES + request->open_files * FILE_BYTES +
                          request->fork_handlers * HANDLER_BYTES +
                          request->parent_threads * THREAD_KERNEL_BYTES;
    if (request->vma_kind != VMA_UNTOUCHED) {
        need->memory_bytes += request->vmas * page;
    }
    caches_need(request, need);
    need->address_bytes += request->vmas * page + request->parent_threads * PARENT_THREAD_STACK_BYTES;
    need->commit_bytes += request->vmas * page;
    if (request->mlockall != 0) {
        need->locked_bytes = need->address_bytes;
    }
}
