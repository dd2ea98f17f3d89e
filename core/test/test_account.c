/* Accounts of control groups, of both versions, on a made tree: what their files say, and that nothing is
 * left where a group cannot account for memory. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "check.h"
#include "tree.h"
#include "workloads/footprint/footprint.h"

static struct memory_account read_group(bool version_1) {
    struct account account = {.of_group = true, .version_1 = version_1};
    struct memory_account now;
    snprintf(account.group, sizeof account.group, "%s/group", root);
    CHECK(account_read(&account, &now) == 0, "the made group cannot be read");
    return now;
}

static void test_version_2(void) {
    put("/group/memory.current", "1000000\n");
    put("/group/memory.stat",
        "anon 400000\nfile 4096\nkernel 500000\nkernel_stack 163840\npagetables 200000\n"
        "sec_pagetables 0\npercpu 5000\nanon_thp 0\nslab 100000\n");
    struct memory_account now = read_group(false);
    CHECK(now.whole == 1000000 && now.user == 400000 && now.kernel == 500000, "%lld", (long long)now.whole);
    CHECK(now.kernel_stack == 163840 && now.page_tables == 200000 && now.slab == 100000, "parts");
    /* Before Linux 5.18 nobody sums up the kernel's part. */
    put("/group/memory.stat",
        "anon 400000\nkernel_stack 163840\npagetables 200000\npercpu 5000\nslab 100000\n");
    now = read_group(false);
    CHECK(now.kernel == 163840 + 200000 + 5000 + 100000, "%lld", (long long)now.kernel);
}

static void test_version_1(void) {
    put("/group/memory.stat", "cache 1\nrss 300000\nrss_huge 0\nmapped_file 2000\ntotal_rss 9\n");
    put("/group/memory.usage_in_bytes", "700000\n");
    put("/group/memory.kmem.usage_in_bytes", "390000\n");
    struct memory_account now = read_group(true);
    CHECK(now.whole == 700000 && now.user == 302000 && now.kernel == 390000, "%lld", (long long)now.whole);
    CHECK(now.kernel_stack == INT64_MIN && now.slab == INT64_MIN, "version 1 does not tell parts");
}

static int entries(const char *name) {
    char path[TREE_PATH_BYTES];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", root, name);
    DIR *folder = opendir(path);
    CHECK(folder != NULL, "%s", name);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

/* A made tree has no kernel that fills a new group, as version 2 has none whose parent hands nothing down. */
static void test_nothing_is_left(void) {
    struct account account;
    memset(&account, 0, sizeof account);
    put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/file", "");
    drop("/sys/fs/cgroup/a/b/file");
    CHECK(account_make_group(root, &account) == -EOPNOTSUPP, "a group without the controller");
    CHECK(entries("sys/fs/cgroup/a/b") == 0 && entries("sys/fs/cgroup/a") == 1, "something is left");
    put("/proc/self/mountinfo", "");
    CHECK(account_make_group(root, &account) == -ENOENT, "no hierarchy at all");
}

int main(void) {
    tree_begin();
    test_version_2();
    test_version_1();
    test_nothing_is_left();
    tree_end();
    return 0;
}
