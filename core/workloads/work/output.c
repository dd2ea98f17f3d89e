/* Where results go: files in a folder of our own, through stdio or straight. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "workloads/work/work.h"

enum { FILE_NAME_BYTES = 32 };

int work_folder_make(struct work *work, struct reason *reason) {
    const char *parent = work_folder_parent(work->request);
    int length = snprintf(work->folder, sizeof work->folder, "%s/clonometer-XXXXXX", parent);
    if (length + FILE_NAME_BYTES > (int)sizeof work->folder) {
        return reason_set(reason, -ENAMETOOLONG, "the name of output_folder is too long: %.100s...", parent);
    }
    if (mkdtemp(work->folder) == NULL) {
        return reason_set(reason, -errno, "no folder can be created in %.200s: %s", parent, strerror(errno));
    }
    int error = remover_start(&work->remover, work->folder);
    if (error != 0) {
        return reason_set(reason, error, "the remover of a folder cannot be started: %s", strerror(-error));
    }
    work->has_folder = true;
    return 0;
}

void work_folder_remove(struct work *work) {
    if (work->has_folder) {
        (void)remover_end(&work->remover, work->folder);
    }
    work->has_folder = false;
}

/* The file of worker `number`; -1: the one that all share. */
static void name_file(const struct work *work, int number, char path[WORK_PATH_BYTES + FILE_NAME_BYTES]) {
    snprintf(path, WORK_PATH_BYTES + FILE_NAME_BYTES, number < 0 ? "%s/all" : "%s/%d", work->folder, number);
}

int work_output_open(struct work *work) {
    char path[WORK_PATH_BYTES + FILE_NAME_BYTES];
    work->stream = NULL;
    work->append_fd = -1;
    name_file(work, -1, path);
    if (work->request->output == OUTPUT_SHARED_APPEND) {
        work->append_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
        return work->append_fd < 0 ? -errno : 0;
    }
    if (work->request->output != OUTPUT_SHARED_STREAM) {
        return 0;
    }
    work->stream = fopen(path, "we");
    if (work->stream == NULL) {
        return -errno;
    }
    if (work->request->writing == WRITING_EACH_NUMBER) {
        setvbuf(work->stream, NULL, _IONBF, 0);
    } else if (work->workers[0].buffer != NULL) {
        setvbuf(work->stream, work->workers[0].buffer, _IOFBF, WORK_BUFFER_BYTES);
    }
    return 0;
}

int work_output_close(struct work *work) {
    int error = work->stream != NULL && fclose(work->stream) != 0 ? -errno : 0;
    if (work->append_fd >= 0 && close(work->append_fd) != 0) {
        error = -errno;
    }
    work->stream = NULL;
    work->append_fd = -1;
    return error;
}

void work_output_remove(const struct work *work) {
    char path[WORK_PATH_BYTES + FILE_NAME_BYTES];
    int64_t files = work->request->output == OUTPUT_WORKER_FILE ? work->request->workers : 0;
    bool kept = work->request->result_files == FILES_OVERWRITTEN;
    for (int64_t i = -1; work->has_folder && !kept && i < files; i++) {
        name_file(work, (int)i, path);
        (void)unlink(path);
    }
}

/* About as much as workers write into it: what an open with O_TRUNC then has to free. */
static int fill(const char *path, int64_t bytes) {
    static const char ZEROS[WORK_BUFFER_BYTES];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int error = fd < 0 ? -errno : 0;
    for (int64_t left = bytes; error == 0 && left > 0; left -= WORK_BUFFER_BYTES) {
        error = sys_write_all(fd, ZEROS, left < WORK_BUFFER_BYTES ? (size_t)left : WORK_BUFFER_BYTES);
    }
    if (fd >= 0 && close(fd) != 0 && error == 0) {
        error = -errno;
    }
    return error;
}

int work_output_fill(const struct work *work) {
    char path[WORK_PATH_BYTES + FILE_NAME_BYTES];
    const struct request *request = work->request;
    bool each = request->output == OUTPUT_WORKER_FILE;
    int64_t bytes = request->numbers * WORK_LINE_GUESS_BYTES * (each ? 1 : request->workers);
    int error = 0;
    for (int64_t i = each ? 0 : -1; error == 0 && i < (each ? request->workers : 0); i++) {
        name_file(work, (int)i, path);
        error = fill(path, bytes);
    }
    return error;
}

/* A stream of the worker's own on `fd`, which it takes over. */
static int open_stream(const struct worker *worker, int fd, struct outlet *outlet) {
    outlet->stream = fdopen(fd, "w");
    if (outlet->stream == NULL) {
        int error = -errno;
        close(fd);
        return error;
    }
    if (worker->buffer != NULL) {
        setvbuf(outlet->stream, worker->buffer, _IOFBF, WORK_BUFFER_BYTES);
    }
    outlet->fd = -1;
    return 0;
}

int work_outlet_open(const struct worker *worker, struct outlet *outlet) {
    const struct work *work = worker->work;
    const struct request *request = work->request;
    char path[WORK_PATH_BYTES + FILE_NAME_BYTES];
    *outlet = (struct outlet){.fd = -1, .unlocked = request->stdio_lock == STDIO_UNLOCKED};
    switch (request->output) {
    case OUTPUT_NONE:
        return 0;
    case OUTPUT_SHARED_STREAM:
        outlet->stream = work->stream;
        outlet->flushed = request->task_kind == TASK_KIND_PROCESS;
        return 0;
    case OUTPUT_SHARED_APPEND:
        outlet->worker_closes = request->writing == WRITING_BUFFERED;
        outlet->fd = outlet->worker_closes ? fcntl(work->append_fd, F_DUPFD_CLOEXEC, 0) : work->append_fd;
        break;
    default:
        outlet->worker_closes = true;
        name_file(work, worker->number, path);
        outlet->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    }
    if (outlet->fd < 0) {
        outlet->worker_closes = false;
        return -errno;
    }
    return request->writing == WRITING_BUFFERED ? open_stream(worker, outlet->fd, outlet) : 0;
}

int work_outlet_write(const struct outlet *outlet, const char *line, size_t length) {
    if (outlet->stream != NULL) {
        size_t written = outlet->unlocked ? fwrite_unlocked(line, 1, length, outlet->stream)
                                          : fwrite(line, 1, length, outlet->stream);
        return written == length ? 0 : -errno;
    }
    return outlet->fd >= 0 ? sys_write_all(outlet->fd, line, length) : 0;
}

int work_outlet_close(const struct outlet *outlet) {
    if (outlet->worker_closes) {
        int failed = outlet->stream != NULL ? fclose(outlet->stream) : close(outlet->fd);
        return failed != 0 ? -errno : 0;
    }
    return outlet->flushed && fflush(outlet->stream) != 0 ? -errno : 0;
}
