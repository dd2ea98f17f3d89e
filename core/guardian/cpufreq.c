#include "guardian/cpufreq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"

/* Turbo is switched for the whole machine: Intel's driver says when it is off, the others when it is on. */
static const char NO_TURBO[] = "/devices/system/cpu/intel_pstate/no_turbo";
static const char BOOST[] = "/devices/system/cpu/cpufreq/boost";

/* Of each CPU, in the order in which they can be restored: the governor before the preference that it forbids
 * to write, the highest frequency before the lowest. */
static const char *const FILES[] = {"boost", "scaling_governor", "scaling_max_freq", "scaling_min_freq",
                                    "energy_performance_preference"};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0], GLOBAL_COUNT = 2 };

int cpufreq_refuse(struct cpufreq *cpufreq, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cpufreq->reason, sizeof cpufreq->reason, format, arguments);
    va_end(arguments);
    return error;
}

static void global_path(const struct cpufreq *cpufreq, const char *file, char *path) {
    snprintf(path, CPUFREQ_PATH_BYTES, "%s%s", cpufreq->root, file);
}

static void cpu_path(const struct cpufreq *cpufreq, int cpu, const char *file, char *path) {
    snprintf(path, CPUFREQ_PATH_BYTES, "%s/devices/system/cpu/cpu%d/cpufreq/%s", cpufreq->root, cpu, file);
}

bool cpufreq_is_setting(const struct cpufreq *cpufreq, const char *path) {
    char known[CPUFREQ_PATH_BYTES];
    static const char *const GLOBAL[GLOBAL_COUNT] = {NO_TURBO, BOOST};
    for (size_t i = 0; i < GLOBAL_COUNT; i++) {
        global_path(cpufreq, GLOBAL[i], known);
        if (strcmp(path, known) == 0) {
            return true;
        }
    }
    global_path(cpufreq, "/devices/system/cpu/cpu", known);
    size_t length = strlen(known);
    long cpu = strncmp(path, known, length) == 0 ? strtol(path + length, NULL, 10) : -1;
    for (size_t file = 0; file < FILE_COUNT && cpu >= 0 && cpu < CPUFREQ_MOST_CPUS; file++) {
        cpu_path(cpufreq, (int)cpu, FILES[file], known);
        if (strcmp(path, known) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads a file's one word. Its length or -errno. */
static long read_value(const char *path, char *value) {
    long length = sys_read_file(path, value, CPUFREQ_VALUE_BYTES);
    if (length > 0) {
        value[strcspn(value, " \n")] = '\0';
    }
    return length;
}

static int64_t read_number(const char *path) {
    char value[CPUFREQ_VALUE_BYTES];
    return read_value(path, value) > 0 ? strtoll(value, NULL, 10) : -1;
}

static int write_value(const char *path, const char *value) {
    /* Cut off what stood there: a made tree has plain files. */
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int error = sys_write_all(fd, value, strlen(value));
    close(fd);
    return error;
}

static int write_number(const char *path, int64_t number) {
    char value[CPUFREQ_VALUE_BYTES];
    snprintf(value, sizeof value, "%lld", (long long)number);
    return write_value(path, value);
}

int cpufreq_parse_cpus(struct cpufreq *cpufreq, const char *list) {
    cpufreq->cpu_count = 0;
    for (const char *at = list; *at != '\0';) {
        char *end = NULL;
        long first = strtol(at, &end, 10);
        long last = first;
        if (end != at && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
        }
        if (end == at || first < 0 || last < first || last >= CPUFREQ_MOST_CPUS ||
            (*end != ',' && *end != '\0')) {
            return -EINVAL;
        }
        for (long cpu = first; cpu <= last; cpu++) {
            if (cpufreq->cpu_count == CPUFREQ_MOST_CPUS) {
                return -EINVAL;
            }
            cpufreq->cpus[cpufreq->cpu_count++] = (int)cpu;
        }
        at = *end == ',' ? end + 1 : end;
    }
    return cpufreq->cpu_count > 0 ? 0 : -EINVAL;
}

/* Saves the file at the next place if it exists. */
static void save(struct cpufreq *cpufreq) {
    struct cpufreq_setting *setting = &cpufreq->saved[cpufreq->saved_count];
    cpufreq->saved_count += read_value(setting->path, setting->value) > 0;
}

int cpufreq_save(struct cpufreq *cpufreq) {
    size_t most = GLOBAL_COUNT + (size_t)cpufreq->cpu_count * FILE_COUNT + 1;
    cpufreq->saved_count = 0;
    cpufreq->saved = calloc(most, sizeof *cpufreq->saved);
    if (cpufreq->saved == NULL) {
        return cpufreq_refuse(cpufreq, -ENOMEM, "no memory");
    }
    for (int i = 0; i < cpufreq->cpu_count; i++) {
        char path[CPUFREQ_PATH_BYTES];
        cpu_path(cpufreq, cpufreq->cpus[i], "scaling_max_freq", path);
        if (read_number(path) <= 0) {
            return cpufreq_refuse(
                cpufreq, -ENOENT,
                "CPU %d has no %s: this kernel cannot set its frequency (a virtual machine, or no "
                "cpufreq driver)",
                cpufreq->cpus[i], path);
        }
    }
    global_path(cpufreq, NO_TURBO, cpufreq->saved[cpufreq->saved_count].path);
    save(cpufreq);
    global_path(cpufreq, BOOST, cpufreq->saved[cpufreq->saved_count].path);
    save(cpufreq);
    for (int i = 0; i < cpufreq->cpu_count; i++) {
        for (size_t file = 0; file < FILE_COUNT; file++) {
            cpu_path(cpufreq, cpufreq->cpus[i], FILES[file], cpufreq->saved[cpufreq->saved_count].path);
            save(cpufreq);
        }
    }
    return 0;
}

/* Switches turbo where there is a switch. 0, -ENOENT where there is none, or -errno. */
static int set_turbo(struct cpufreq *cpufreq, bool on) {
    char path[CPUFREQ_PATH_BYTES];
    global_path(cpufreq, NO_TURBO, path);
    int error = write_value(path, on ? "0" : "1");
    if (error == -ENOENT) {
        global_path(cpufreq, BOOST, path);
        error = write_value(path, on ? "1" : "0");
    }
    return error == 0 || error == -ENOENT
               ? error
               : cpufreq_refuse(cpufreq, error, "turbo cannot be switched: %s: %s", path, strerror(-error));
}

/* The lowest frequency goes out of the way first, for it may never be above the highest. */
static int set_range(struct cpufreq *cpufreq, int cpu, int64_t lowest, int64_t highest) {
    char minimum[CPUFREQ_PATH_BYTES];
    char maximum[CPUFREQ_PATH_BYTES];
    char bottom[CPUFREQ_PATH_BYTES];
    cpu_path(cpufreq, cpu, "scaling_min_freq", minimum);
    cpu_path(cpufreq, cpu, "scaling_max_freq", maximum);
    cpu_path(cpufreq, cpu, "cpuinfo_min_freq", bottom);
    int64_t least = read_number(bottom);
    int error = least > 0 ? write_number(minimum, least) : 0;
    error = error != 0 ? error : write_number(maximum, highest);
    error = error != 0 ? error : write_number(minimum, lowest);
    if (error != 0) {
        return cpufreq_refuse(cpufreq, error, "CPU %d: %lld kHz cannot be set: %s", cpu, (long long)highest,
                              strerror(-error));
    }
    int64_t set_minimum = read_number(minimum);
    int64_t set_maximum = read_number(maximum);
    if (set_minimum == lowest && set_maximum == highest) {
        return 0;
    }
    return cpufreq_refuse(cpufreq, -ERANGE, "CPU %d: asked for %lld kHz, the kernel made it %lld to %lld",
                          cpu, (long long)highest, (long long)set_minimum, (long long)set_maximum);
}

/* The highest frequency without turbo: what the driver says, else the limit that remains when turbo is off.
 */
static int64_t base_khz(const struct cpufreq *cpufreq, int cpu) {
    char path[CPUFREQ_PATH_BYTES];
    cpu_path(cpufreq, cpu, "base_frequency", path);
    int64_t khz = read_number(path);
    if (khz <= 0) {
        cpu_path(cpufreq, cpu, "cpuinfo_max_freq", path);
        khz = read_number(path);
    }
    return khz;
}

static int64_t top_khz(const struct cpufreq *cpufreq, int cpu) {
    char path[CPUFREQ_PATH_BYTES];
    cpu_path(cpufreq, cpu, "cpuinfo_max_freq", path);
    return read_number(path);
}

static int set_cpu(struct cpufreq *cpufreq, int cpu, enum cpufreq_wish wish, int64_t khz) {
    char governor[CPUFREQ_PATH_BYTES];
    int64_t wanted = wish == CPUFREQ_BASE    ? base_khz(cpufreq, cpu)
                     : wish == CPUFREQ_TURBO ? top_khz(cpufreq, cpu)
                                             : khz;
    if (wanted <= 0) {
        return cpufreq_refuse(cpufreq, -ENOENT, "CPU %d does not report its frequencies", cpu);
    }
    cpu_path(cpufreq, cpu, "scaling_governor", governor);
    int error = write_value(governor, "performance");
    if (error != 0) {
        return cpufreq_refuse(cpufreq, error, "%s cannot be written: %s", governor, strerror(-error));
    }
    return set_range(cpufreq, cpu, wanted, wanted);
}

int cpufreq_set(struct cpufreq *cpufreq, enum cpufreq_wish wish, int64_t khz) {
    bool turbo = wish == CPUFREQ_TURBO;
    for (int i = 0; wish == CPUFREQ_KHZ && i < cpufreq->cpu_count; i++) {
        turbo = turbo || khz > base_khz(cpufreq, cpufreq->cpus[i]);
    }
    int error = set_turbo(cpufreq, turbo);
    if (error == -ENOENT && wish == CPUFREQ_BASE) {
        char path[CPUFREQ_PATH_BYTES];
        cpu_path(cpufreq, cpufreq->cpus[0], "base_frequency", path);
        error = read_number(path) > 0
                    ? 0
                    : cpufreq_refuse(cpufreq, -ENOENT,
                                     "this driver has no switch for turbo and names no base "
                                     "frequency");
    } else if (error == -ENOENT) {
        error = 0;
    }
    for (int i = 0; error == 0 && i < cpufreq->cpu_count; i++) {
        error = set_cpu(cpufreq, cpufreq->cpus[i], wish, khz);
    }
    return error;
}

/* So that each saved pair can be written in its order. */
static void open_range(const struct cpufreq_setting *setting) {
    static const char LOWEST[] = "scaling_min_freq";
    size_t folder = strlen(setting->path) - strlen(LOWEST);
    char bottom[CPUFREQ_PATH_BYTES];
    if (strlen(setting->path) > strlen(LOWEST) && strcmp(setting->path + folder, LOWEST) == 0) {
        snprintf(bottom, sizeof bottom, "%.*scpuinfo_min_freq", (int)folder, setting->path);
        int64_t least = read_number(bottom);
        if (least > 0) {
            (void)write_number(setting->path, least);
        }
    }
}

bool cpufreq_is_restored(const struct cpufreq *cpufreq) {
    char now[CPUFREQ_VALUE_BYTES];
    size_t same = 0;
    while (same < cpufreq->saved_count && read_value(cpufreq->saved[same].path, now) > 0 &&
           strcmp(now, cpufreq->saved[same].value) == 0) {
        same++;
    }
    return same == cpufreq->saved_count;
}

int cpufreq_restore(struct cpufreq *cpufreq) {
    int worst = 0;
    for (size_t i = 0; i < cpufreq->saved_count; i++) {
        open_range(&cpufreq->saved[i]);
    }
    for (size_t i = 0; i < cpufreq->saved_count; i++) {
        const struct cpufreq_setting *setting = &cpufreq->saved[i];
        char now[CPUFREQ_VALUE_BYTES];
        if (read_value(setting->path, now) > 0 && strcmp(now, setting->value) == 0) {
            continue;
        }
        int error = write_value(setting->path, setting->value);
        bool back = read_value(setting->path, now) > 0 && strcmp(now, setting->value) == 0;
        if (!back && worst == 0) {
            worst = cpufreq_refuse(cpufreq, error != 0 ? error : -EIO, "%s could not be restored to %s: %s",
                                   setting->path, setting->value,
                                   error != 0 ? strerror(-error) : "it reads back as something else");
        }
    }
    return worst;
}
