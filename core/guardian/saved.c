#include "guardian/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

static const char NAME[] = "frequency";
static const char TITLE[] = "clonometer-guardian 1\n";
static const char BOOT[] = "boot ";
/* Without it the file was not whole yet, and nothing had been changed. */
static const char END[] = "end\n";
/* What governors, preferences and frequencies are made of. */
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

enum { ATTEMPTS = 10, BOOT_BYTES = 64, MOST_BYTES = 16 << 20 };

/* Others can neither put something there nor lock it. */
static bool is_ours(const struct stat *facts) {
    return facts->st_uid == geteuid() && (facts->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_folder(struct saved *saved, struct cpufreq *cpufreq, const char *folder, bool make) {
    struct stat facts;
    if (make && mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) {
        return cpufreq_refuse(cpufreq, -errno, "settings cannot be saved in %s: %s", folder, strerror(errno));
    }
    saved->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (saved->folder < 0) {
        return cpufreq_refuse(cpufreq, -errno, "%s: %s", folder, strerror(errno));
    }
    if (fstat(saved->folder, &facts) != 0 || !is_ours(&facts)) {
        return cpufreq_refuse(cpufreq, -EPERM, "%s is not a folder of this user alone", folder);
    }
    return 0;
}

/* Makes the file, or opens the one that is there. A pipe there must not make us wait. */
static int open_file(const struct saved *saved, bool make) {
    int fd = make ? openat(saved->folder, NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR)
                  : -1;
    return fd >= 0 ? fd : openat(saved->folder, NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

bool saved_stands(const struct saved *saved) {
    struct stat ours;
    struct stat named;
    return fstat(saved->fd, &ours) == 0 && fstatat(saved->folder, NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

int saved_claim(struct saved *saved, struct cpufreq *cpufreq, const char *folder, bool make) {
    int error = open_folder(saved, cpufreq, folder, make);
    for (int attempt = 0; error == 0 && saved->folder >= 0 && attempt < ATTEMPTS; attempt++) {
        struct stat facts;
        saved->fd = open_file(saved, make);
        if (saved->fd < 0 && errno == ENOENT && make) {
            continue;
        }
        if (saved->fd < 0) {
            return cpufreq_refuse(cpufreq, -errno, "%s/%s: %s", folder, NAME, strerror(errno));
        }
        if (fstat(saved->fd, &facts) != 0 || !S_ISREG(facts.st_mode) || !is_ours(&facts) ||
            facts.st_nlink > 1) {
            return cpufreq_refuse(cpufreq, -EPERM, "%s/%s is not a file of this user alone", folder, NAME);
        }
        if (flock(saved->fd, LOCK_EX | LOCK_NB) != 0) {
            return errno == EWOULDBLOCK
                       ? cpufreq_refuse(cpufreq, -EBUSY, "another clonometer-guardian is running")
                       : cpufreq_refuse(cpufreq, -errno, "%s/%s: %s", folder, NAME, strerror(errno));
        }
        /* Its owner may have removed it before we had the lock. */
        if (saved_stands(saved)) {
            return 0;
        }
        close(saved->fd);
    }
    return error != 0 ? error : cpufreq_refuse(cpufreq, -EBUSY, "other guardians come and go");
}

static void read_boot(char boot[BOOT_BYTES]) {
    long length = sys_read_file("/proc/sys/kernel/random/boot_id", boot, BOOT_BYTES);
    boot[length > 0 ? strcspn(boot, "\n") : 0] = '\0';
}

/* The file's text, which the caller frees; NULL if it cannot be read, or is none. */
static char *read_all(const struct saved *saved) {
    struct stat facts;
    if (fstat(saved->fd, &facts) != 0 || facts.st_size > MOST_BYTES) {
        return NULL;
    }
    size_t length = (size_t)facts.st_size;
    char *text = calloc(1, length + 1);
    size_t got = 0;
    while (text != NULL && got < length) {
        ssize_t more = pread(saved->fd, text + got, length - got, (off_t)got);
        if (more <= 0 && !(more < 0 && errno == EINTR)) {
            break;
        }
        got += more > 0 ? (size_t)more : 0;
    }
    if (text != NULL && strlen(text) != length) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Takes one line, `PATH VALUE`. Whether it is a setting that a guardian may have changed. */
static bool take_line(struct cpufreq *cpufreq, char *line) {
    struct cpufreq_setting *setting = &cpufreq->saved[cpufreq->saved_count];
    char *value = strrchr(line, ' ');
    if (value == NULL) {
        return false;
    }
    *value++ = '\0';
    size_t length = strlen(value);
    if (length == 0 || length >= sizeof setting->value || strspn(value, LETTERS) != length ||
        strlen(line) >= sizeof setting->path || !cpufreq_is_setting(cpufreq, line)) {
        return false;
    }
    memcpy(setting->value, value, length + 1);
    memcpy(setting->path, line, strlen(line) + 1);
    cpufreq->saved_count++;
    return true;
}

static int take_lines(struct cpufreq *cpufreq, char *at) {
    size_t lines = 0;
    for (const char *letter = at; *letter != '\0'; letter++) {
        lines += *letter == '\n';
    }
    cpufreq->saved_count = 0;
    cpufreq->saved = calloc(lines + 1, sizeof *cpufreq->saved);
    if (cpufreq->saved == NULL) {
        return -ENOMEM;
    }
    char *save = NULL;
    for (char *line = strtok_r(at, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        if (cpufreq->saved_count == lines || !take_line(cpufreq, line)) {
            return -EINVAL;
        }
    }
    return SAVED_LEFT;
}

/* What a whole text says. A saved_kind or -errno. */
static int take_text(struct cpufreq *cpufreq, char *text) {
    size_t length = strlen(text);
    size_t ending = strlen(END);
    char boot[BOOT_BYTES];
    read_boot(boot);
    if (length < ending || strcmp(text + length - ending, END) != 0) {
        /* The beginning of what would have been written, such as nothing. */
        size_t common = length < strlen(TITLE) ? length : strlen(TITLE);
        return memcmp(text, TITLE, common) == 0 ? SAVED_NOTHING : -EINVAL;
    }
    text[length - ending] = '\0';
    if (strncmp(text, TITLE, strlen(TITLE)) != 0) {
        return -EINVAL;
    }
    char *line = text + strlen(TITLE);
    char *next = strchr(line, '\n');
    if (strncmp(line, BOOT, strlen(BOOT)) != 0 || next == NULL) {
        return -EINVAL;
    }
    *next = '\0';
    return strcmp(line + strlen(BOOT), boot) == 0 ? take_lines(cpufreq, next + 1) : SAVED_BEFORE_THIS_BOOT;
}

int saved_read(const struct saved *saved, struct cpufreq *cpufreq) {
    char *text = read_all(saved);
    int kind = text == NULL ? -EIO : take_text(cpufreq, text);
    free(text);
    return kind >= 0
               ? kind
               : cpufreq_refuse(cpufreq, kind,
                                "the file %s of saved settings is not what a guardian wrote for %s: look at "
                                "it, and remove it",
                                NAME, cpufreq->root);
}

static int write_lines(const struct saved *saved, const struct cpufreq *cpufreq) {
    char boot[BOOT_BYTES];
    char line[CPUFREQ_PATH_BYTES + CPUFREQ_VALUE_BYTES + 2];
    read_boot(boot);
    int length = snprintf(line, sizeof line, "%s%s%s\n", TITLE, BOOT, boot);
    int error = ftruncate(saved->fd, 0) == 0 && lseek(saved->fd, 0, SEEK_SET) == 0 ? 0 : -errno;
    error = error != 0 ? error : sys_write_all(saved->fd, line, (size_t)length);
    for (size_t i = 0; error == 0 && i < cpufreq->saved_count; i++) {
        length = snprintf(line, sizeof line, "%s %s\n", cpufreq->saved[i].path, cpufreq->saved[i].value);
        error = sys_write_all(saved->fd, line, (size_t)length);
    }
    error = error != 0 ? error : sys_write_all(saved->fd, END, strlen(END));
    /* The name must last as long as what it names. */
    return error != 0 || (fsync(saved->fd) == 0 && fsync(saved->folder) == 0) ? error : -errno;
}

int saved_write(const struct saved *saved, struct cpufreq *cpufreq) {
    int error = write_lines(saved, cpufreq);
    return error == 0 ? 0
                      : cpufreq_refuse(cpufreq, error, "the settings cannot be saved: %s", strerror(-error));
}

void saved_remove(const struct saved *saved) {
    if (saved_stands(saved)) {
        (void)unlinkat(saved->folder, NAME, 0);
        (void)fsync(saved->folder);
    }
    close(saved->fd);
    close(saved->folder);
}
