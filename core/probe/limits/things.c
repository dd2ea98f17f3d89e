#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "probe/limits/checks.h"

enum {
    OWN_AREAS = 128,   /* VMAs that the probe has by itself, and what a thread or an exec adds */
    SPARE_FILES = 4096 /* left for the machine */
};

static int check_areas(const char *root, const struct limits_need *need, struct reason *reason) {
    int64_t most = limits_read_number(root, "/proc/sys/vm/max_map_count");
    if (need->areas == 0 || most < 0 || need->areas + OWN_AREAS <= most) {
        return 0;
    }
    return reason_set(reason, -ENOMEM,
                      "needs %" PRId64
                      " memory areas and %d of the probe's own, but vm.max_map_count is %" PRId64
                      "; raise it with sysctl vm.max_map_count=N",
                      need->areas, OWN_AREAS, most);
}

/* The soft limit is raised to the hard one without being asked, and the hard one where that is permitted. */
static int check_descriptor_limit(const char *root, const struct limits_need *need, struct reason *reason) {
    struct rlimit files;
    int64_t wanted = need->descriptors + LIMITS_OWN_DESCRIPTORS;
    if (need->descriptors <= 0 || getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max == RLIM_INFINITY ||
        (int64_t)files.rlim_max >= wanted || limits_has_capability(root, LIMITS_CAP_SYS_RESOURCE)) {
        return 0;
    }
    return reason_set(reason, -EPERM,
                      "needs %" PRId64
                      " descriptors and %d of the probe's own, but the hard RLIMIT_NOFILE is "
                      "%" PRId64 ", which only CAP_SYS_RESOURCE may raise: ulimit -Hn %" PRId64
                      " as root, limits.conf, systemd's LimitNOFILE=, or a container's --ulimit nofile=",
                      need->descriptors, LIMITS_OWN_DESCRIPTORS, (int64_t)files.rlim_max, wanted);
}

static int check_files(const char *root, const struct limits_need *need, struct reason *reason) {
    int64_t most = limits_read_number(root, "/proc/sys/fs/nr_open");
    if (need->descriptors > 0 && most >= 0 && need->descriptors + LIMITS_OWN_DESCRIPTORS > most) {
        return reason_set(reason, -EAGAIN,
                          "needs %" PRId64
                          " descriptors and %d of the probe's own, but fs.nr_open is %" PRId64
                          "; raise it with sysctl fs.nr_open=N",
                          need->descriptors, LIMITS_OWN_DESCRIPTORS, most);
    }
    int error = check_descriptor_limit(root, need, reason);
    if (error != 0) {
        return error;
    }
    most = limits_read_number(root, "/proc/sys/fs/file-max");
    int64_t used = limits_read_number(root, "/proc/sys/fs/file-nr");
    int64_t left = most - (used > 0 ? used : 0);
    if (need->files > 0 && most >= 0 && need->files + SPARE_FILES > left) {
        return reason_set(reason, -EAGAIN,
                          "needs %" PRId64 " open files and %d to spare, but fs.file-max (%" PRId64
                          ") leaves %" PRId64 "; raise it with sysctl fs.file-max=N",
                          need->files, SPARE_FILES, most, left);
    }
    return 0;
}

static int check_huge_pages(const char *root, const struct limits_need *need, struct reason *reason) {
    char path[LIMITS_PATH_BYTES];
    char text[LIMITS_FILE_BYTES];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (need->huge_pages == 0 || sys_read_file(path, text, sizeof text) <= 0) {
        return 0;
    }
    int64_t total = limits_number_after(text, "HugePages_Total:");
    int64_t left =
        limits_number_after(text, "HugePages_Free:") - limits_number_after(text, "HugePages_Rsvd:");
    if (total >= 0 && need->huge_pages <= left) {
        return 0;
    }
    return reason_set(reason, -ENOMEM,
                      "needs %" PRId64 " huge pages, but %" PRId64 " of %" PRId64
                      " are free; reserve some with sysctl vm.nr_hugepages=%" PRId64,
                      need->huge_pages, left, total > 0 ? total : 0,
                      (total > 0 ? total - left : 0) + need->huge_pages);
}

int limits_check_things(const char *root, const struct limits_need *need, struct reason *reason) {
    int error = check_areas(root, need, reason);
    error = error != 0 ? error : check_files(root, need, reason);
    return error != 0 ? error : check_huge_pages(root, need, reason);
}
