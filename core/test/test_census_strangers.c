/* A name that strangers give is opened only where it is a regular file at that moment, within the root of who
 * names it; a pipe or a device is not even touched. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "census/libdw.h"
#include "census/strangers.h"
#include "stand_in.h"
#include "tree.h"

enum { CALL_OPENAT2 = 437, PATIENCE_S = 60, SWAPS = 4000 };

static int refused; /* what openat2 answers; 0: what the kernel does */

static long stands_in(long number, long *words) {
    (void)words;
    return number == CALL_OPENAT2 ? -refused : 0;
}

static char *at(const char *name) {
    static char path[TREE_PATH_BYTES];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

static void make_link(const char *to, const char *name) {
    char link[TREE_PATH_BYTES];
    snprintf(link, sizeof link, "%s", at(name));
    CHECK(symlink(to, link) == 0, "%s", link);
}

static void check_one(pid_t process, const char *name, bool follow, int expected) {
    int file = strangers_open(process, at(name), follow);
    CHECK(expected == 0 ? file >= 0 : file == expected, "%s: %d, errno %d refused", name, file, refused);
    if (file >= 0) {
        CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0, "no program of ours gets it");
        CHECK(close(file) == 0, "it was open");
    }
}

static void check_kinds(pid_t process) {
    struct stat status;
    check_one(process, "/regular", false, 0);
    check_one(process, "/to-regular", true, 0);
    check_one(process, "/to-regular", false, -ESTALE);
    check_one(process, "/pipe", true, -ESTALE);
    check_one(process, "/to-pipe", true, -ESTALE);
    check_one(process, "/to-device", true, -ESTALE);
    check_one(process, "/folder", true, -ESTALE);
    check_one(process, "/nothing", true, -ENOENT);
    CHECK(strangers_look(process, at("/to-pipe"), &status) && S_ISFIFO(status.st_mode), "what it is");
    CHECK(!strangers_look(process, at("/nothing"), &status), "nothing is there");
}

/* What somebody does who wants us to open the pipe; whether anybody had it open. */
static atomic_bool done;
static atomic_int opened;

static void *swap(void *context) {
    (void)context;
    while (!atomic_load(&done)) {
        int writer = open("pipe", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        atomic_fetch_add(&opened, writer >= 0);
        if (writer >= 0) {
            close(writer);
        }
        (void)symlink("pipe", "made");
        (void)rename("made", "swapped");
        (void)link("regular", "made");
        (void)rename("made", "swapped");
    }
    return NULL;
}

static void check_swaps(void) {
    char swapped[TREE_PATH_BYTES];
    pthread_t thread;
    int regular = 0;
    snprintf(swapped, sizeof swapped, "%s", at("/swapped"));
    atomic_store(&done, false);
    CHECK(chdir(root) == 0 && pthread_create(&thread, NULL, swap, NULL) == 0, "a thread");
    for (int i = 0; i < SWAPS; i++) {
        struct stat status;
        int file = strangers_open(0, swapped, true);
        if (file >= 0) {
            CHECK(fstat(file, &status) == 0 && S_ISREG(status.st_mode), "a pipe was opened");
            close(file);
            regular++;
        }
    }
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    CHECK(regular > 0 && atomic_load(&opened) == 0, "%d regular, %d times opened", regular, opened);
}

static bool openat2_is_there(void) {
    return syscall(CALL_OPENAT2, -1, NULL, NULL, 0) == 0 || errno != ENOSYS;
}

/* In a root of its own, links lead to what is there. */
static void check_root(void) {
    int hold[2];
    char byte = 0;
    CHECK(pipe2(hold, O_CLOEXEC) == 0, "a pipe");
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        _exit(chroot(root) != 0 || read(hold[0], &byte, 1) != 0);
    }
    CHECK(child > 0, "a child");
    close(hold[0]);
    char made[TREE_PATH_BYTES];
    snprintf(made, sizeof made, "/proc/%d/root/regular", (int)child);
    for (int i = 0; i < 1000 && access(made, F_OK) != 0; i++) {
        usleep(1000);
    }
    if (access(made, F_OK) == 0) {
        /* Without openat2 an absolute link would lead into our root: there it finds nothing. */
        const char *path = openat2_is_there() ? "/folder/absolute" : "/regular";
        int file = strangers_open(child, path, true);
        CHECK(file >= 0 && read(file, &byte, 1) == 1 && byte == 'x', "its own file: %d", file);
        close(file);
        CHECK(!openat2_is_there() || strangers_open(child, "/folder/above", true) == -ENOENT,
              "nothing above its root");
    }
    close(hold[1]);
    CHECK(waitpid(child, NULL, 0) == child, "it ends");
}

/* What libdw opens by itself comes here, and what others open does not. */
static void check_libdw(void) {
    int file = open(at("/to-device"), O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && close(file) == 0, "others open what they like");
    libdw_works(true);
    CHECK(open(at("/pipe"), O_RDONLY) < 0 && errno == ESTALE, "no pipe");
    CHECK(open64(at("/to-device"), O_RDONLY) < 0 && errno == ESTALE, "no device");
    file = open(at("/to-regular"), O_RDONLY);
    CHECK(file >= 0 && close(file) == 0, "a file");
    file = open(at("/made"), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR);
    struct stat status;
    CHECK(file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) == S_IRUSR && close(file) == 0,
          "what is written is made");
    libdw_works(false);
}

int main(void) {
    static const int REFUSED[] = {0, ENOSYS, EPERM};
    alarm(PATIENCE_S);
    tree_begin();
    put("/regular", "x");
    put("/swapped", "x");
    put("/folder/file", "y");
    CHECK(mkfifo(at("/pipe"), S_IRWXU) == 0, "no pipe");
    make_link("regular", "/to-regular");
    make_link("pipe", "/to-pipe");
    make_link("/dev/null", "/to-device");
    make_link("/regular", "/folder/absolute");
    make_link("../../../../../etc/passwd", "/folder/above");
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        refused = REFUSED[i];
        check_kinds(0);
        check_kinds(getpid());
        check_swaps();
    }
    refused = 0;
    check_root();
    check_libdw();
    CHECK(chdir("/") == 0, "out of the folder");
    tree_end();
    return 0;
}
