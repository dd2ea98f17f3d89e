/* Where the own control group is, in both versions, on a made tree; and one made below it, once. */
#include <errno.h>

#include "check.h"
#include "tree.h"
#include "workloads/cgroup/cgroup.h"

static void check_group(const char *controller, const char *expected) {
    char path[CGROUP_PATH_BYTES];
    int error = cgroup_own(root, controller, path);
    CHECK(error == 0, "error %d, not %s", error, expected);
    CHECK(strncmp(path, root, strlen(root)) == 0 && strcmp(path + strlen(root), expected) == 0, "%s, not %s",
          path, expected);
}

static void test_places(void) {
    put("/proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/proc/self/cgroup", "0::/user.slice/user-0.slice\n");
    check_group(NULL, "/sys/fs/cgroup/user.slice/user-0.slice");
    put("/proc/self/cgroup", "0::/\n");
    check_group(NULL, "/sys/fs/cgroup");
    char none[CGROUP_PATH_BYTES];
    CHECK(cgroup_own(root, "memory", none) == -ENOENT, "no version 1 here");
    /* Both, and a container that sees its own group as the root. */
    put("/proc/self/mountinfo", "25 24 0:23 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
                                "26 24 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "4:memory:/docker/7f/deep\n1:cpu:/else\n0::/init\n");
    check_group("memory", "/sys/fs/cgroup/memory/deep");
    check_group(NULL, "/sys/fs/cgroup/unified/init");
    put("/proc/self/cgroup", "4:memory:/docker/7f0\n0::/init\n");
    check_group("memory", "/sys/fs/cgroup/memory/docker/7f0");
}

static void test_made_once(void) {
    char directory[CGROUP_PATH_BYTES];
    char made[CGROUP_PATH_BYTES];
    struct stat facts;
    put("/groups/cgroup.procs", "");
    snprintf(directory, sizeof directory, "%s/groups", root);
    CHECK(cgroup_make(directory, made) == 0, "%s cannot be made", made);
    CHECK(strncmp(made, directory, strlen(directory)) == 0 && stat(made, &facts) == 0 &&
              S_ISDIR(facts.st_mode),
          "%s is no folder below %s", made, directory);
    CHECK(cgroup_make(directory, made) == -EEXIST, "somebody else's group is taken over");
    memset(directory, 'x', sizeof directory - 1);
    directory[sizeof directory - 1] = '\0';
    CHECK(cgroup_make(directory, made) == -ENAMETOOLONG, "a name that is cut");
}

int main(void) {
    tree_begin();
    test_places();
    test_made_once();
    tree_end();
    return 0;
}
