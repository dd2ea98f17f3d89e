#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workloads/serve/serve.h"

static int64_t time_ns(const struct timeval *time) {
    return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

void serve_usage_take(struct serve_usage *usage, const struct rusage *rusage) {
    usage->cpu_ns += time_ns(&rusage->ru_utime) + time_ns(&rusage->ru_stime);
    usage->system_ns += time_ns(&rusage->ru_stime);
    usage->faults += rusage->ru_minflt + rusage->ru_majflt;
    usage->switches += rusage->ru_nvcsw + rusage->ru_nivcsw;
}

void serve_usage_read_self(struct serve_usage *usage) {
    struct rusage self;
    getrusage(RUSAGE_SELF, &self);
    *usage = (struct serve_usage){0};
    serve_usage_take(usage, &self);
}

void serve_usage_read(struct serve_usage *usage) {
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    serve_usage_read_self(usage);
    serve_usage_take(usage, &children);
}

/* Processes add to it as they end. */
void serve_usage_add(struct serve_usage *sum, const struct serve_usage *before,
                     const struct serve_usage *after) {
    __atomic_add_fetch(&sum->cpu_ns, after->cpu_ns - before->cpu_ns, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sum->system_ns, after->system_ns - before->system_ns, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sum->faults, after->faults - before->faults, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sum->switches, after->switches - before->switches, __ATOMIC_RELAXED);
}

static int64_t kib_after(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : -1;
}

/* What is shared is the probe's own: its samples, and what it shares with the client. */
static int64_t pss_of(pid_t pid) {
    char path[64];
    char text[2048];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    if (sys_read_file(path, text, sizeof text) <= 0) {
        return -1;
    }
    int64_t anonymous = kib_after(text, "\nPss_Anon:");
    int64_t file = kib_after(text, "\nPss_File:");
    return anonymous < 0 || file < 0 ? -1 : (anonymous + file) << 10;
}

int64_t serve_pss(const struct serve *serve) {
    int64_t all = pss_of(getpid());
    for (int i = 0; all >= 0 && i < serve->workers; i++) {
        pid_t pid = serve->shared->slots[i].pid;
        int64_t bytes = pid > 0 ? pss_of(pid) : 0;
        all = bytes < 0 ? -1 : all + bytes;
    }
    return all;
}
