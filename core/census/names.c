#include "census/names.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"
#include "census/strangers.h"

enum { MOST_PATH = 4096, MOST_AUXILIARY = 1024 };

void name_copy(char *to, size_t room, const char *path, size_t length) {
    static const char CUT[] = "…";
    if (length < room) {
        memcpy(to, path, length);
        to[length] = '\0';
        return;
    }
    size_t kept = room - sizeof CUT;
    const char *from = path + length - kept;
    /* Not in the middle of a character. */
    while (kept > 0 && ((unsigned char)*from & 0xc0U) == 0x80U) {
        from++;
        kept--;
    }
    memcpy(to, CUT, sizeof CUT - 1);
    memcpy(to + sizeof CUT - 1, from, kept);
    to[sizeof CUT - 1 + kept] = '\0';
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool name_says_nothing(const char *given) {
    return strncmp(given, "/proc/", 6) == 0 || strncmp(given, "/dev/fd/", 8) == 0;
}

const char *name_choose(const char *given, const char *runs, const char *word, bool script) {
    bool useless = given[0] == '\0' || name_says_nothing(given);
    const char *file = useless ? runs : given;
    /* A login shell has a hyphen before its name. */
    const char *argument_name = word[0] == '-' ? word + 1 : word;
    if (file[0] == '\0') {
        return argument_name;
    }
    bool same = argument_name[0] == '\0' || strcmp(last_part(argument_name), last_part(file)) == 0;
    return same || (script && !useless) ? file : argument_name;
}

/* The string that the auxiliary vector of a process names by `type`. */
static void read_auxiliary(pid_t process, uint64_t type, char *text, size_t room) {
    char path[64];
    ElfW(auxv_t) vector[MOST_AUXILIARY / sizeof(ElfW(auxv_t))];
    text[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    ssize_t bytes = read(fd, vector, sizeof vector);
    close(fd);
    for (size_t i = 0; bytes > 0 && i < (size_t)bytes / sizeof vector[0]; i++) {
        if (vector[i].a_type == type) {
            struct iovec local = {.iov_base = text, .iov_len = room - 1};
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process */
            struct iovec remote = {.iov_base = (void *)(uintptr_t)vector[i].a_un.a_val, .iov_len = room - 1};
            ssize_t got = process_vm_readv(process, &local, 1, &remote, 1, 0);
            text[got > 0 ? got : 0] = '\0';
            return;
        }
    }
}

/* The first of its arguments, up to a space or colon: a program that writes a title there begins with its
 * name. */
static void read_word(pid_t process, char *word, size_t room) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process);
    if (sys_read_file(path, word, room) <= 0) {
        word[0] = '\0';
    }
    word[strcspn(word, " :")] = '\0';
}

/* Whether a process runs another file than exec was given: one that it interprets. */
static bool interprets(pid_t process, const char *given, const char *runs) {
    char path[32];
    struct stat file;
    struct stat program;
    if (given[0] != '/') {
        /* It was given in a folder that may be another one by now. */
        return strcmp(last_part(given), last_part(runs)) != 0;
    }
    bool exists = strangers_look(process, given, &file);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    return !exists || stat(path, &program) != 0 || file.st_dev != program.st_dev ||
           file.st_ino != program.st_ino;
}

void name_of_process(pid_t process, char *name, size_t room) {
    char path[64];
    char given[MOST_PATH];
    char runs[MOST_PATH];
    char word[MOST_PATH];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    ssize_t length = readlink(path, runs, sizeof runs - 1);
    runs[length > 0 && (size_t)length < sizeof runs ? length : 0] = '\0';
    read_auxiliary(process, AT_EXECFN, given, sizeof given);
    read_word(process, word, sizeof word);
    const char *best = name_choose(given, runs, word, interprets(process, given, runs));
    name_copy(name, room, best, strlen(best));
}
