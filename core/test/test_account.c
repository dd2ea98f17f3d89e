/* Accounts of control groups, of both versions, on a made tree: where the own group is, what its files say,
 * and that nothing is left where a group cannot account for memory. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "footprint/footprint.h"

static char root[] = "/tmp/clonometer-account-XXXXXX";
static char path[200];

static const char *below(const char *name) {
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void make_folder(const char *name) {
    CHECK(mkdir(below(name), S_IRWXU) == 0 || errno == EEXIST, "%s", name);
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(below(name), "w");
    CHECK(file != NULL, "%s", name);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

static void check_group(bool version_1, const char *expected) {
    char found[256];
    int error = account_own_group(root, version_1, found, sizeof found);
    CHECK(error == 0, "error %d, not %s", error, expected);
    CHECK(strncmp(found, root, strlen(root)) == 0 && strcmp(found + strlen(root), expected) == 0,
          "%s, not %s", found, expected);
}

static void test_places(void) {
    write_text("proc/self/mountinfo",
               "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    write_text("proc/self/cgroup", "0::/user.slice/user-0.slice\n");
    check_group(false, "/sys/fs/cgroup/user.slice/user-0.slice");
    write_text("proc/self/cgroup", "0::/\n");
    check_group(false, "/sys/fs/cgroup");
    char none[256];
    CHECK(account_own_group(root, true, none, sizeof none) == -ENOENT, "no version 1 here");
    /* Both, and a container that sees its own group as the root. */
    write_text("proc/self/mountinfo",
               "25 24 0:23 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
               "26 24 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    write_text("proc/self/cgroup", "4:memory:/docker/7f/deep\n1:cpu:/else\n0::/init\n");
    check_group(true, "/sys/fs/cgroup/memory/deep");
    check_group(false, "/sys/fs/cgroup/unified/init");
    write_text("proc/self/cgroup", "4:memory:/docker/7f0\n0::/init\n");
    check_group(true, "/sys/fs/cgroup/memory/docker/7f0");
}

static struct memory_account read_group(bool version_1) {
    struct account account = {.of_group = true, .version_1 = version_1};
    struct memory_account now;
    snprintf(account.group, sizeof account.group, "%s", below("group"));
    CHECK(account_read(&account, &now) == 0, "the made group cannot be read");
    return now;
}

static void test_version_2(void) {
    write_text("group/memory.current", "1000000\n");
    write_text("group/memory.stat",
               "anon 400000\nfile 4096\nkernel 500000\nkernel_stack 163840\npagetables 200000\n"
               "sec_pagetables 0\npercpu 5000\nanon_thp 0\nslab 100000\n");
    struct memory_account now = read_group(false);
    CHECK(now.whole == 1000000 && now.user == 400000 && now.kernel == 500000, "%lld", (long long)now.whole);
    CHECK(now.kernel_stack == 163840 && now.page_tables == 200000 && now.slab == 100000, "parts");
    /* Before Linux 5.18 nobody sums up the kernel's part. */
    write_text("group/memory.stat",
               "anon 400000\nkernel_stack 163840\npagetables 200000\npercpu 5000\nslab 100000\n");
    now = read_group(false);
    CHECK(now.kernel == 163840 + 200000 + 5000 + 100000, "%lld", (long long)now.kernel);
}

static void test_version_1(void) {
    write_text("group/memory.stat", "cache 1\nrss 300000\nrss_huge 0\nmapped_file 2000\ntotal_rss 9\n");
    write_text("group/memory.usage_in_bytes", "700000\n");
    write_text("group/memory.kmem.usage_in_bytes", "390000\n");
    struct memory_account now = read_group(true);
    CHECK(now.whole == 700000 && now.user == 302000 && now.kernel == 390000, "%lld", (long long)now.whole);
    CHECK(now.kernel_stack == INT64_MIN && now.slab == INT64_MIN, "version 1 does not tell parts");
}

static int entries(const char *name) {
    int count = 0;
    DIR *folder = opendir(below(name));
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
    write_text("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write_text("proc/self/cgroup", "0::/a/b\n");
    CHECK(account_make_group(root, &account) == -EOPNOTSUPP, "a group without the controller");
    CHECK(entries("sys/fs/cgroup/a/b") == 0 && entries("sys/fs/cgroup/a") == 1, "something is left");
    write_text("proc/self/mountinfo", "");
    CHECK(account_make_group(root, &account) == -ENOENT, "no hierarchy at all");
}

int main(void) {
    static const char *const FOLDERS[] = {
        "proc", "proc/self", "sys", "sys/fs", "sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/a/b",
        "group"};
    static const char *const FILES[] = {"proc/self/mountinfo",         "proc/self/cgroup",
                                        "group/memory.stat",           "group/memory.current",
                                        "group/memory.usage_in_bytes", "group/memory.kmem.usage_in_bytes"};
    enum { FOLDER_COUNT = sizeof FOLDERS / sizeof FOLDERS[0], FILE_COUNT = sizeof FILES / sizeof FILES[0] };
    CHECK(mkdtemp(root) != NULL, "no temporary folder");
    for (int i = 0; i < FOLDER_COUNT; i++) {
        make_folder(FOLDERS[i]);
    }
    test_places();
    test_version_2();
    test_version_1();
    test_nothing_is_left();
    for (int i = 0; i < FILE_COUNT; i++) {
        unlink(below(FILES[i]));
    }
    for (int i = FOLDER_COUNT - 1; i >= 0; i--) {
        rmdir(below(FOLDERS[i]));
    }
    CHECK(rmdir(root) == 0, "the tree is not empty");
    return 0;
}
