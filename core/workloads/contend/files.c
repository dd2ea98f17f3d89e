/* The workers' empty files, in a folder that goes whatever ends the probe. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/contend/contend.h"

static int make_file(const struct contend_worker *worker) {
    int fd = open(worker->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) != 0 ? -errno : 0;
}

int contend_files_make(struct contend *contend) {
    const char *base = getenv("TMPDIR");
    base = base != NULL && base[0] != '\0' ? base : "/tmp";
    char folder[CONTEND_PATH_BYTES];
    if ((size_t)snprintf(folder, sizeof folder, "%s/clonometer-XXXXXX", base) >= sizeof folder - 16) {
        return -ENAMETOOLONG;
    }
    if (mkdtemp(folder) == NULL) {
        return -errno;
    }
    int error = remover_start(&contend->remover, folder);
    if (error != 0) {
        return error;
    }
    memcpy(contend->folder, folder, sizeof folder);
    bool distinct = contend->bench->request->opened == OPENED_DISTINCT;
    for (int i = 0; error == 0 && i < contend->count; i++) {
        struct contend_worker *worker = &contend->workers[i];
        /* The longest folder leaves room for this. */
        snprintf(worker->path, sizeof worker->path, "%.*s/%d", CONTEND_PATH_BYTES - 16, folder,
                 distinct ? i : 0);
        error = distinct || i == 0 ? make_file(worker) : 0;
    }
    return error;
}

void contend_files_remove(struct contend *contend) {
    if (contend->folder[0] == '\0') {
        return;
    }
    bool distinct = contend->bench->request->opened == OPENED_DISTINCT;
    for (int i = 0; i < (distinct ? contend->count : 1); i++) {
        if (contend->workers[i].path[0] != '\0') {
            (void)unlink(contend->workers[i].path);
        }
    }
    (void)remover_end(&contend->remover, contend->folder);
    contend->folder[0] = '\0';
}
