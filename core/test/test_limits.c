/* Limits read from made /proc and /sys trees: each refusal names the limit and its value; groups above count
 * too. */
#include <errno.h>

#include "check.h"
#include "probe/limits/limits.h"
#include "tree.h"

static int ask(long long memory_mb, long long tasks, struct reason *reason) {
    struct limits_need need = {
        .memory_bytes = memory_mb << 20, .commit_bytes = memory_mb << 20, .tasks = tasks};
    reason->text[0] = '\0';
    return limits_check(root, &need, reason);
}

static void plenty(void) {
    put("/proc/meminfo",
        "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nCommitLimit: 1048576 kB\nCommitted_AS: 0 kB\n");
    put("/proc/sys/vm/overcommit_memory", "0\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/sys/kernel/threads-max", "1000\n");
}

int main(void) {
    struct reason reason;
    tree_begin();
    plenty();
    CHECK(ask(1024, 2, &reason) == 0, "%s", reason.text);
    CHECK(ask(9000, 2, &reason) == -ENOMEM && strstr(reason.text, "MemAvailable") != NULL, "%s", reason.text);
    CHECK(strstr(reason.text, "needs 8.7 GiB") != NULL && strstr(reason.text, "leaves 8 GiB;") != NULL,
          "sizes: %s", reason.text);
    CHECK(ask(0, 2000, &reason) == -EAGAIN && strstr(reason.text, "threads-max") != NULL, "%s", reason.text);

    put("/proc/sys/kernel/pid_max", "1600\n");
    CHECK(ask(0, 900, &reason) == -EAGAIN && strstr(reason.text, "pid_max, which is 1600") != NULL, "%s",
          reason.text);
    CHECK(ask(0, 800, &reason) == 0, "%s", reason.text);

    put("/sys/fs/cgroup/a/memory.max", "536870912\n");
    put("/sys/fs/cgroup/a/memory.current", "0\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    CHECK(ask(1024, 2, &reason) == -ENOMEM && strstr(reason.text, "/sys/fs/cgroup/a/memory.max") != NULL,
          "the group above must count: %s", reason.text);
    drop("/sys/fs/cgroup/a/memory.max");

    put("/sys/fs/cgroup/a/b/pids.max", "10\n");
    put("/sys/fs/cgroup/a/b/pids.current", "9\n");
    CHECK(ask(0, 2, &reason) == -EAGAIN && strstr(reason.text, "pids.max") != NULL, "%s", reason.text);
    drop("/sys/fs/cgroup/a/b/pids.max");

    put("/proc/self/cgroup", "4:memory:/x\n8:pids:/\n");
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "268435456\n");
    put("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1000\n");
    CHECK(ask(1024, 2, &reason) == -ENOMEM && strstr(reason.text, "memory.limit_in_bytes") != NULL, "%s",
          reason.text);
    drop("/sys/fs/cgroup/memory/x/memory.limit_in_bytes");
    put("/sys/fs/cgroup/pids/pids.max", "5\n");
    put("/sys/fs/cgroup/pids/pids.current", "4\n");
    CHECK(ask(0, 2, &reason) == -EAGAIN, "%s", reason.text);
    drop("/sys/fs/cgroup/pids/pids.max");

    put("/proc/sys/vm/overcommit_memory", "2\n");
    CHECK(ask(600, 2, &reason) == -ENOMEM && strstr(reason.text, "overcommit") != NULL, "%s", reason.text);
    tree_end();
    return 0;
}
