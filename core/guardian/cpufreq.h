/* The frequency settings of some CPUs in /sys: saved, set, restored. */
#ifndef CLONOMETER_CPUFREQ_H
#define CLONOMETER_CPUFREQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUFREQ_MOST_CPUS = 4096, CPUFREQ_PATH_BYTES = 512, CPUFREQ_VALUE_BYTES = 64 };

enum cpufreq_wish { CPUFREQ_BASE, CPUFREQ_TURBO, CPUFREQ_KHZ };

/* One file and what stood in it. */
struct cpufreq_setting {
    char path[CPUFREQ_PATH_BYTES];
    char value[CPUFREQ_VALUE_BYTES];
};

struct cpufreq {
    const char *root; /* in the place of /sys */
    int cpus[CPUFREQ_MOST_CPUS];
    int cpu_count;
    struct cpufreq_setting *saved; /* in the order in which they are restored */
    size_t saved_count;
    char reason[CPUFREQ_PATH_BYTES + 256]; /* of the last refusal */
};

/* Keeps the reason, and returns `error`. */
__attribute__((format(printf, 3, 4))) int cpufreq_refuse(struct cpufreq *cpufreq, int error,
                                                         const char *format, ...);

/* Whether `path` is a file of `root` that cpufreq_set may change. */
bool cpufreq_is_setting(const struct cpufreq *cpufreq, const char *path);

/* Reads a list such as 0,2-5. 0 or -EINVAL. */
int cpufreq_parse_cpus(struct cpufreq *cpufreq, const char *list);

/* Saves every setting that cpufreq_set may change. The caller frees `saved`. 0, or -errno with the reason. */
int cpufreq_save(struct cpufreq *cpufreq);

/* Sets the wish on all CPUs and reads it back. 0, or -errno with the reason; then it is for the caller to
 * restore. */
int cpufreq_set(struct cpufreq *cpufreq, enum cpufreq_wish wish, int64_t khz);

/* Whether every file has the value that was saved. */
bool cpufreq_is_restored(const struct cpufreq *cpufreq);

/* Writes back what was saved and reads it back; goes on after a file that fails. 0, or the first -errno with
 * the reason. */
int cpufreq_restore(struct cpufreq *cpufreq);

#endif
