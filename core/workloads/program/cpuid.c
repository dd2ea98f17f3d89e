/* program.cpuid
 * Timed: CPUIDS_EACH executions of CPUID in a row, between two readings of the clock that stamps launches.
 * Processors take some 100 cycles for it; a hypervisor on Intel must, and on AMD usually does take it over,
 * so that in a guest each costs an exit to the host and back. The C library executes dozens of them when a
 * program starts (program.steps counts them), which nobody can change from inside the guest.
 * Bias: the loop and the framing readings belong to the cost, some ns. The caches and the host are warm for
 * each but the first. Asked is leaf 4, one that the C library asks for the caches; another leaf may cost a
 * hypervisor a little more or less. Source: Intel SDM vol. 3C, instructions that cause VM exits
 * unconditionally; AMD APM vol. 2, instruction intercepts; glibc sysdeps/x86/cpu-features.c.
 */
#include <errno.h>

#include "base/clock.h"
#include "probe/workload.h"

enum { CPUIDS_EACH = 20 };

#if defined(__x86_64__)

static int available(struct reason *reason) {
    (void)reason;
    return 0;
}

static int launch(const struct bench *bench, struct sample *sample) {
    (void)bench;
    struct stamp start = clock_read();
    for (int i = 0; i < CPUIDS_EACH; i++) {
        uint32_t a = 4;
        uint32_t b;
        uint32_t c = 0;
        uint32_t d;
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    }
    ((struct timed_row *)(void *)sample)->ticks = clock_read().ticks - start.ticks;
    sample->cpu_before = (int32_t)start.cpu;
    return 0;
}

#else

static int available(struct reason *reason) {
    return reason_set(reason, -ENOSYS, "CPUID is an x86 instruction, which this processor does not have");
}

static int launch(const struct bench *bench, struct sample *sample) {
    (void)bench;
    (void)sample;
    return -ENOSYS;
}

#endif

static int64_t operations(const struct request *request) {
    (void)request;
    return CPUIDS_EACH;
}

static const struct column COLUMNS[] = {
    {"cpuid_ns", COLUMN_EACH, offsetof(struct timed_row, ticks), NULL, "one CPUID"},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const DETAILS[] = {"cpuid_ns", NULL};
static const char *const AXES[] = {AXES_MACHINE, NULL};

const struct workload program_cpuid = {
    .id = "program.cpuid",
    .family = "other",
    .summary =
        "one CPUID instruction: about 100 cycles on hardware; in most virtual machines an exit to the host",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .answers.details = DETAILS,
    .needs.available = available,
    ROWS_OF(timed_row),
    .launch = launch,
    .rows.operations = operations,
};
