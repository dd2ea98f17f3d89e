/* The task that walks: it writes a word in each cache line of its memory, in order, so that the lines of all
 * others leave the caches, and its pages' entries take the place of theirs in the TLB. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/caches/caches.h"
#include "workloads/caches/walker.h"

enum { LINE_BYTES = 64, LOWEST_TO_CLOSE = 3, MOST_TO_CLOSE = 1024 };

/* Maps the whole file: whose page the meeting lies on is the arena's affair. */
static struct walker *meet(const char *where) {
    char *end = NULL;
    long fd = strtol(where, &end, 10);
    long offset = *end == ':' ? strtol(end + 1, &end, 10) : -1;
    struct stat file;
    if (*end != '\0' || offset < 0 || fstat((int)fd, &file) != 0 ||
        offset > (long)file.st_size - (long)sizeof(struct walker)) {
        return NULL;
    }
    char *memory = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    return memory == MAP_FAILED ? NULL : (struct walker *)(memory + offset);
}

static int prepare(const struct walker *walker, volatile unsigned char **memory) {
    /* The answer's descriptor among them: whoever reads it waits for its end. */
    for (int fd = LOWEST_TO_CLOSE; fd < MOST_TO_CLOSE; fd++) {
        close(fd);
    }
    int error = sys_allow(&walker->cpus);
    if (error != 0) {
        return error;
    }
    void *mapped =
        mmap(NULL, (size_t)walker->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return -errno;
    }
    /* Small pages, as most programs beside a server have. EINVAL: a kernel without huge ones. */
    if (madvise(mapped, (size_t)walker->bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) {
        return -errno;
    }
    *memory = mapped;
    return 0;
}

static void walk(volatile unsigned char *memory, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += LINE_BYTES) {
        memory[at]++;
    }
}

int caches_walk_main(const char *where) {
    prctl(PR_SET_NAME, "clonometer-walk");
    struct walker *walker = meet(where);
    /* It lives long: it must not outlive the probe. One that had died before the call took effect shows as
     * another parent. */
    if (walker == NULL || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != walker->starter) {
        return 1;
    }
    volatile unsigned char *memory = NULL;
    walker->error = prepare(walker, &memory);
    for (uint32_t round = 1; walker->error == 0; round++) {
        walk(memory, walker->bytes);
        tally_add(&walker->done);
        gate_pass(&walker->gate, round);
    }
    tally_add(&walker->done);
    return 1;
}
