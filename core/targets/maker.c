/* A process made for a calibration or a validation: it takes memory, areas, files and threads as asked, and
 * times its own forks.
 *
 * Its arguments are KEY=COUNT, as in KEYS. It writes `made PID` once it has all that. Then each line of its
 * input asks for forks: `PERCENT IDLE_MS FORKS EXECUTES`, as in `50 30 2 0`. Before each of two forks it
 * writes to half of its written pages, drawn anew, and idles for 30 ms. `100 0 0 0` only writes. It answers
 * with a line: for each fork what the call took and, after a colon, how long its parent waited from there, in
 * ns. The wait is for the child's end or, where EXECUTES is 1, for its execve: until the child has closed a
 * pipe that both had. What is executed is this program, which then ends at once. It ends with its input. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The name by which its child executes it. */
#define NOTHING "clonometer-nothing"

enum { PAGE = 4096, HUGE = 2 << 20, MOST_WRITTEN = 32, STACK = 64 << 10, LINE = 64, SEED = 1 };
/* Where areas at random places may lie: within 64 GiB, each aligned to its length. */
enum { PLACE = 64 << 10, PLACES = 1 << 20 };

enum key {
    DENSE_PAGES,
    DENSE_PARTS,
    SCATTERED_PAGES,
    SPARSE_PAGES,
    HUGE_PAGES,
    HUGETLB_PAGES,
    WRITTEN_AREAS,
    EMPTY_AREAS,
    DONTFORK_AREAS,
    WIPEONFORK_AREAS,
    USERFAULTFD_AREAS,
    FILE_AREAS,
    SHARED_PAGES,
    OPEN_FILES,
    THREADS,
    KEY_COUNT
};

static const char *const KEYS[KEY_COUNT] = {
    [DENSE_PAGES] = "dense_pages",
    [DENSE_PARTS] = "dense_parts",
    [SCATTERED_PAGES] = "scattered_pages",
    [SPARSE_PAGES] = "sparse_pages",
    [HUGE_PAGES] = "huge_pages",
    [HUGETLB_PAGES] = "hugetlb_pages",
    [WRITTEN_AREAS] = "written_areas",
    [EMPTY_AREAS] = "empty_areas",
    [DONTFORK_AREAS] = "dontfork_areas",
    [WIPEONFORK_AREAS] = "wipeonfork_areas",
    [USERFAULTFD_AREAS] = "userfaultfd_areas",
    [FILE_AREAS] = "file_areas",
    [SHARED_PAGES] = "shared_pages",
    [OPEN_FILES] = "files",
    [THREADS] = "threads",
};

/* What is written again before a fork that shall find its pages written: a page each, small or huge, with so
 * many writes as its step makes. */
static struct {
    unsigned char *start;
    size_t length;
    size_t page;
    size_t step;
} written[MOST_WRITTEN];
static size_t written_count;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static unsigned char *map_at(void *wished, size_t length, int flags, int fd) {
    void *mapped = mmap(wished, length, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (mapped == MAP_FAILED) {
        die("mmap");
    }
    return mapped;
}

static unsigned char *map(size_t length, int flags, int fd) {
    return map_at(NULL, length, flags, fd);
}

/* Gives back what was mapped before and behind a part. */
static void keep_part(unsigned char *start, size_t mapped, unsigned char *part, size_t length) {
    if (part > start) {
        munmap(start, (size_t)(part - start));
    }
    munmap(part + length, (size_t)(start + mapped - (part + length)));
}

static void keep_written(unsigned char *start, size_t length, size_t page, size_t step) {
    if (written_count == MOST_WRITTEN) {
        fputs("too many parts\n", stderr);
        exit(1);
    }
    written[written_count].start = start;
    written[written_count].length = length;
    written[written_count].page = page;
    written[written_count++].step = step;
}

/* A number of 31 bits (Knuth's linear congruential generator, MMIX). */
static size_t drawn(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(*state >> 33);
}

/* Each page is written to with this probability, drawn anew each time. */
static void touch(long percent) {
    static uint64_t state = SEED;
    for (size_t i = 0; i < written_count; i++) {
        for (size_t page = 0; page < written[i].length; page += written[i].page) {
            if (percent < 100 && (long)(drawn(&state) % 100) >= percent) {
                continue;
            }
            for (size_t at = page; at < page + written[i].page; at += written[i].step) {
                ((volatile unsigned char *)written[i].start)[at]++;
            }
        }
    }
}

/* Pages that are touched in random order: what lies side by side in the process then lies apart in memory. */
static void touch_scattered(unsigned char *start, size_t count) {
    uint32_t *order = malloc(count * sizeof *order);
    if (order == NULL) {
        die("malloc");
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    uint64_t state = SEED;
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = drawn(&state) % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        start[(size_t)order[i] * PAGE] = 1;
    }
    free(order);
}

static unsigned char *take(size_t count, size_t page, size_t step, int flags, int advice) {
    if (count == 0) {
        return NULL;
    }
    /* Aligned, and apart from what lies before and behind. */
    size_t length = count * page;
    unsigned char *start = map(length + 2 * HUGE, flags | MAP_ANONYMOUS, -1);
    unsigned char *aligned = (unsigned char *)(((uintptr_t)start + HUGE) & ~(uintptr_t)(HUGE - 1));
    keep_part(start, length + 2 * HUGE, aligned, length);
    madvise(aligned, length, advice);
    keep_written(aligned, length, page, step);
    return aligned;
}

/* Pages side by side, of which every other one is left out of core dumps: areas that do not merge. */
static unsigned char *take_areas(size_t count, int is_written, int advice) {
    if (count == 0) {
        return NULL;
    }
    unsigned char *start = map(count * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    madvise(start, count * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 1; i < count; i += 2) {
        madvise(start + i * PAGE, PAGE, MADV_DONTDUMP);
    }
    if (advice != 0 && madvise(start, count * PAGE, advice) != 0) {
        die("madvise");
    }
    if (is_written) {
        keep_written(start, count * PAGE, PAGE, PAGE);
    }
    return start;
}

/* Areas at random places, each the aligned half of what was mapped, as V8 maps its heap: the kernel takes
 * them out of the child's tree one by one, and with gaps between them that takes nearly twice as long. */
static void take_dontfork_areas(size_t count) {
    uint64_t state = SEED;
    for (size_t i = 0; i < count; i++) {
        void *wished = (void *)(drawn(&state) % PLACES * PLACE);
        unsigned char *start = map_at(wished, 2 * PLACE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        unsigned char *aligned = (unsigned char *)(((uintptr_t)start + PLACE - 1) & ~(uintptr_t)(PLACE - 1));
        keep_part(start, 2 * PLACE, aligned, PLACE);
        madvise(aligned, PLACE, MADV_NOHUGEPAGE);
        if (madvise(aligned, PLACE, MADV_DONTFORK) != 0) {
            die("madvise");
        }
        aligned[0] = 1;
    }
}

/* Areas with written memory that a userfaultfd watches for missing pages: it need not serve any, since all
 * are there. */
static void watch_areas(size_t count) {
    if (count == 0) {
        return;
    }
    unsigned char *start = take_areas(count, 1, 0);
    touch(100);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register watched = {.range = {(uintptr_t)start, count * PAGE},
                                      .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &watched) != 0) {
        die("userfaultfd");
    }
}

static void take_hugetlb(size_t count) {
    if (count == 0) {
        return;
    }
    unsigned char *start =
        mmap(NULL, count * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (start == MAP_FAILED) {
        die("no huge pages are reserved (sysctl vm.nr_hugepages)");
    }
    keep_written(start, count * HUGE, HUGE, PAGE);
}

static void take_files(const long *wanted) {
    int fd = memfd_create("clonometer-maker", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, PAGE) != 0) {
        die("memfd_create");
    }
    for (long i = 0; i < wanted[FILE_AREAS]; i++) {
        map(PAGE, MAP_SHARED, fd);
    }
    close(fd);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (long i = 0; i < wanted[OPEN_FILES]; i++) {
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) {
            die("/dev/null");
        }
    }
}

static void *sleep_on(void *nothing) {
    for (;;) {
        pause();
    }
    return nothing;
}

static void take_threads(long count) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, sleep_on, NULL) != 0) {
            die("pthread_create");
        }
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void idle(long ms) {
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* The child's part: it ends, or executes this program by a name that tells it to end at once. */
static void be_child(int executes) {
    if (executes) {
        char *const words[] = {(char *)(uintptr_t)NOTHING, NULL};
        execv("/proc/self/exe", words);
        _exit(127);
    }
    _exit(0);
}

/* As a parent does that must know whether the execve failed: it reads from a pipe that closes with it. */
static void wait_for_exec(int fd) {
    char nothing;
    while (read(fd, &nothing, 1) < 0) {
        if (errno != EINTR) {
            die("read");
        }
    }
}

static void time_fork(int executes) {
    int ends[2];
    if (executes && pipe2(ends, O_CLOEXEC) != 0) {
        die("pipe2");
    }
    int64_t start = now_ns();
    pid_t pid = fork();
    if (pid == 0) {
        be_child(executes);
    }
    int64_t called = now_ns();
    if (pid < 0) {
        die("fork");
    }
    int64_t waited = 0;
    if (executes) {
        close(ends[1]);
        wait_for_exec(ends[0]);
        waited = now_ns();
        close(ends[0]);
    }
    int status;
    waitpid(pid, &status, 0);
    if (!executes) {
        waited = now_ns();
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fputs("a child failed\n", stderr);
        exit(1);
    }
    printf(" %lld:%lld", (long long)(called - start), (long long)(waited - called));
}

static void answer(void) {
    char line[LINE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line;
        long percent = strtol(rest, &rest, 10);
        long idle_ms = strtol(rest, &rest, 10);
        long forks = strtol(rest, &rest, 10);
        long executes = strtol(rest, &rest, 10);
        if (percent > 0 && forks == 0) {
            touch(percent);
        }
        for (long i = 0; i < forks; i++) {
            if (percent > 0) {
                touch(percent);
            }
            if (idle_ms > 0) {
                idle(idle_ms);
            }
            time_fork(executes != 0);
        }
        printf("\n");
        fflush(stdout);
    }
}

static void read_wanted(int argc, char **argv, long *wanted) {
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        size_t length = value == NULL ? 0 : (size_t)(value - argv[i]);
        int key = 0;
        while (key < KEY_COUNT && (strlen(KEYS[key]) != length || strncmp(KEYS[key], argv[i], length) != 0)) {
            key++;
        }
        if (key == KEY_COUNT) {
            fprintf(stderr, "not understood: %s\n", argv[i]);
            exit(2);
        }
        wanted[key] = strtol(value + 1, NULL, 10);
    }
}

int main(int argc, char **argv) {
    if (argc > 0 && strcmp(argv[0], NOTHING) == 0) {
        return 0;
    }
    long wanted[KEY_COUNT] = {[DENSE_PARTS] = 1};
    read_wanted(argc, argv, wanted);
    for (long part = 0; part < wanted[DENSE_PARTS]; part++) {
        take((size_t)(wanted[DENSE_PAGES] / wanted[DENSE_PARTS]), PAGE, PAGE, MAP_PRIVATE, MADV_NOHUGEPAGE);
    }
    if (wanted[SCATTERED_PAGES] > 0) {
        size_t count = (size_t)wanted[SCATTERED_PAGES];
        touch_scattered(take(count, PAGE, PAGE, MAP_PRIVATE, MADV_NOHUGEPAGE), count);
    }
    take((size_t)wanted[SPARSE_PAGES], HUGE, HUGE, MAP_PRIVATE, MADV_NOHUGEPAGE);
    take((size_t)wanted[HUGE_PAGES], HUGE, PAGE, MAP_PRIVATE, MADV_HUGEPAGE);
    take((size_t)wanted[SHARED_PAGES], PAGE, PAGE, MAP_SHARED, MADV_NOHUGEPAGE);
    take_hugetlb((size_t)wanted[HUGETLB_PAGES]);
    take_areas((size_t)wanted[WRITTEN_AREAS], 1, 0);
    take_areas((size_t)wanted[EMPTY_AREAS], 0, 0);
    take_dontfork_areas((size_t)wanted[DONTFORK_AREAS]);
    take_areas((size_t)wanted[WIPEONFORK_AREAS], 1, MADV_WIPEONFORK);
    watch_areas((size_t)wanted[USERFAULTFD_AREAS]);
    take_files(wanted);
    take_threads(wanted[THREADS]);
    touch(100);
    touch(100);
    printf("made %d\n", getpid());
    fflush(stdout);
    answer();
    return 0;
}
