/* Limits of VMAs, descriptors, files, huge pages and locked memory: each refusal has the limit, its value and
 * what would raise it. */
#include <errno.h>
#include <sys/resource.h>

#include "check.h"
#include "probe/limits/limits.h"
#include "tree.h"

static void allowed(struct limits_need need) {
    struct reason reason = {""};
    CHECK(limits_check(root, &need, &reason) == 0, "refused: %s", reason.text);
}

static void refused(struct limits_need need, int error, const char *limit, const char *remedy) {
    struct reason reason = {""};
    CHECK(limits_check(root, &need, &reason) == error, "%s: not refused, or otherwise: %s", limit,
          reason.text);
    CHECK(strstr(reason.text, limit) != NULL, "no '%s' in: %s", limit, reason.text);
    CHECK(strstr(reason.text, remedy) != NULL, "no '%s' in: %s", remedy, reason.text);
}

int main(void) {
    tree_begin();
    put("/proc/meminfo", "MemAvailable: 8388608 kB\nCommitLimit: 2048 kB\nCommitted_AS: 1024 kB\n"
                         "HugePages_Total: 10\nHugePages_Free: 8\nHugePages_Rsvd: 3\n");
    put("/proc/self/status", "CapInh:\t0000000000000000\nCapEff:\t0000000000000000\n");
    put("/proc/sys/vm/max_map_count", "1000\n");
    put("/proc/sys/fs/nr_open", "2000\n");
    put("/proc/sys/fs/file-max", "9000\n");
    put("/proc/sys/fs/file-nr", "4000\t0\t9000\n");
    put("/proc/sys/vm/overcommit_memory", "0\n");

    allowed((struct limits_need){.areas = 800, .descriptors = 1900, .files = 900, .huge_pages = 5});
    refused((struct limits_need){.areas = 999}, -ENOMEM, "vm.max_map_count is 1000",
            "sysctl vm.max_map_count=");
    refused((struct limits_need){.descriptors = 1999}, -EAGAIN, "fs.nr_open is 2000", "sysctl fs.nr_open=");
    refused((struct limits_need){.files = 1000}, -EAGAIN, "fs.file-max (9000) leaves 5000",
            "sysctl fs.file-max=");
    refused((struct limits_need){.huge_pages = 6}, -ENOMEM, "5 of 10", "sysctl vm.nr_hugepages=11");

    struct rlimit files = {.rlim_cur = 512, .rlim_max = 1024};
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0, "cannot lower it");
    allowed((struct limits_need){.descriptors = 960});
    refused((struct limits_need){.descriptors = 961}, -EPERM, "hard RLIMIT_NOFILE is 1024",
            "ulimit -Hn 1025");
    /* CAP_SYS_RESOURCE: up to fs.nr_open all the same. */
    put("/proc/self/status", "CapInh:\t0000000000000000\nCapEff:\t0000000001000000\n");
    allowed((struct limits_need){.descriptors = 1900});
    refused((struct limits_need){.descriptors = 1999}, -EAGAIN, "fs.nr_open is 2000", "sysctl fs.nr_open=");
    put("/proc/self/status", "CapInh:\t0000000000000000\nCapEff:\t0000000000000000\n");

    allowed((struct limits_need){.commit_bytes = 1 << 20});
    put("/proc/sys/vm/overcommit_memory", "2\n");
    allowed((struct limits_need){.commit_bytes = 1 << 19});
    refused((struct limits_need){.commit_bytes = 1 << 20}, -ENOMEM, "overcommit_memory=2",
            "overcommit_ratio");

    struct rlimit lock;
    CHECK(getrlimit(RLIMIT_MEMLOCK, &lock) == 0, "no limit");
    lock.rlim_cur = lock.rlim_max < (16 << 20) ? lock.rlim_max : 16 << 20;
    CHECK(setrlimit(RLIMIT_MEMLOCK, &lock) == 0, "cannot lower it");
    refused((struct limits_need){.locked_bytes = 64 << 20}, -ENOMEM, "RLIMIT_MEMLOCK", "ulimit -l");
    /* CAP_IPC_LOCK */
    put("/proc/self/status", "CapInh:\t0000000000000000\nCapEff:\t0000000000004000\n");
    allowed((struct limits_need){.locked_bytes = 64 << 20});
    tree_end();
    return 0;
}
