/* contend.open
 * Timed: as contend.h says; the operation is one open for reading of an empty file and the close of the
 * descriptor: a file of the worker's own (opened=distinct), or one file for all (opened=same), whose dentry
 * and inode then are shared by processes too. Threads share the table of descriptors and its lock, processes
 * do not. Outside: making the files, in a folder below $TMPDIR or /tmp, and removing them; a remover process
 * does that even if the probe is killed. Bias: the folder's file system is part of what is measured; the
 * paths have few parts.
 * Source: will-it-scale open1, open2; fs/open.c, fs/file.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "workloads/contend/contend.h"

enum { OPERATIONS = 32 };

static int batch(struct contend_worker *worker) {
    for (int i = 0; i < OPERATIONS; i++) {
        int fd = open(worker->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || close(fd) != 0) {
            return -errno;
        }
    }
    return 0;
}

static const struct contend_ways WAYS = {.operations = OPERATIONS, .files = true, .batch = batch};

static int prepare(struct bench *bench, struct reason *reason) {
    return contend_start(bench, &WAYS, reason);
}

static const char *const AXES[] = {AXES_CONTEND, "opened", NULL};

const struct workload contend_open = {
    .id = "contend.open",
    CONTEND_FACTS,
    .summary = "workers open and close files at the same time",
    .axes = AXES,
    .prepare = prepare,
};
