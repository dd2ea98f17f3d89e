/* program.steps
 * Counted: the instructions that a program executes from its exec to its end, and how many of them are CPUID,
 * by single steps: before the entry of its file (the loader's), until main (the C library's start), until
 * main returns, and after. Nothing is timed. The program is started as fork_exec starts it, and runs to its
 * end unless that is beyond MOST_INSTRUCTIONS or MOST_NS; `ended` says whether. Tasks that it makes are not
 * counted. Where main is not found (Go, for one) all from the entry on is the start's. Source: ptrace(2).
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "workloads/launch/launch.h"
#include "workloads/program/steps.h"

enum { MOST_INSTRUCTIONS = 4000000 };
static const int64_t MOST_NS = 9000000000;

struct steps_row {
    struct sample sample;
    int64_t instructions;
    int64_t cpuid;
    int64_t ended;
    int64_t main_from_entry;
    int64_t instructions_in[STEPS_PHASES];
    int64_t cpuid_in[STEPS_PHASES];
};

static void fill(struct steps_row *row, const struct steps *steps) {
    row->instructions = 0;
    row->cpuid = 0;
    row->ended = steps->ended;
    row->main_from_entry = steps->found_main ? steps->main_from_entry : INT64_MIN;
    for (int i = 0; i < STEPS_PHASES; i++) {
        bool known = i <= STEPS_START || steps->found_main;
        row->instructions += steps->instructions[i];
        row->cpuid += steps->cpuid[i];
        row->instructions_in[i] = known ? steps->instructions[i] : INT64_MIN;
        row->cpuid_in[i] = known ? steps->cpuid[i] : INT64_MIN;
    }
}

static int launch(const struct bench *bench, struct sample *sample) {
    struct steps_watch watch;
    memset(&watch, 0, sizeof watch);
    pid_t pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) {
            execve(bench->program->path, bench->program->arguments, bench->program->environment);
        }
        int error_number = errno;
        launch_put(bench, offsetof(struct stamps, child_error), &error_number, sizeof error_number);
        _exit(127);
    }
    int error = pid < 0 ? -errno : steps_follow(pid, MOST_INSTRUCTIONS, MOST_NS, &watch);
    if (error == -ECHILD && bench->stamps->child_error != 0) {
        error = -bench->stamps->child_error;
    }
    fill((struct steps_row *)(void *)sample, &watch.steps);
    return error;
}

static int available(struct reason *reason) {
#if defined(__x86_64__)
    (void)reason;
    return 0;
#else
    return reason_set(reason, -ENOSYS,
                      "it counts CPUID, an x86 instruction that this processor does not have");
#endif
}

#define IN_ROW(field) offsetof(struct steps_row, field)
static const struct column COLUMNS[] = {
    {"instructions", COLUMN_COUNT, IN_ROW(instructions), NULL, "instructions from exec to the program's end"},
    {"cpuid", COLUMN_COUNT, IN_ROW(cpuid), NULL, "CPUID instructions from exec to the end"},
    {"ended", COLUMN_COUNT, IN_ROW(ended), NULL,
     "1: the program was counted to its end; 0: it was ended at a limit"},
    {"main_from_entry", COLUMN_SIGNED_BYTES, IN_ROW(main_from_entry), NULL,
     "bytes from the entry of the program's file to main; below zero where main stands before it"},
    {"loader_instructions", COLUMN_COUNT, IN_ROW(instructions_in[STEPS_LOADER]), NULL,
     "instructions before the entry of the program's file: the dynamic loader's"},
    {"loader_cpuid", COLUMN_COUNT, IN_ROW(cpuid_in[STEPS_LOADER]), NULL,
     "CPUID instructions of the dynamic loader"},
    {"start_instructions", COLUMN_COUNT, IN_ROW(instructions_in[STEPS_START]), NULL,
     "instructions from the program's entry to main: the C library's start"},
    {"start_cpuid", COLUMN_COUNT, IN_ROW(cpuid_in[STEPS_START]), NULL,
     "CPUID instructions of the C library before main"},
    {"main_instructions", COLUMN_COUNT, IN_ROW(instructions_in[STEPS_MAIN]), NULL, "instructions in main"},
    {"main_cpuid", COLUMN_COUNT, IN_ROW(cpuid_in[STEPS_MAIN]), NULL, "CPUID instructions in main"},
    {"exit_instructions", COLUMN_COUNT, IN_ROW(instructions_in[STEPS_EXIT]), NULL,
     "instructions after main's return: the C library's exit"},
    {"exit_cpuid", COLUMN_COUNT, IN_ROW(cpuid_in[STEPS_EXIT]), NULL,
     "CPUID instructions of the C library after main"},
    {"errno", COLUMN_ERRNO, offsetof(struct sample, error), NULL, NULL},
    {NULL, COLUMN_ERRNO, 0, NULL, NULL},
};
static const char *const DETAILS[] = {"instructions",
                                      "cpuid",
                                      "ended",
                                      "main_from_entry",
                                      "loader_instructions",
                                      "loader_cpuid",
                                      "start_instructions",
                                      "start_cpuid",
                                      "main_instructions",
                                      "main_cpuid",
                                      "exit_instructions",
                                      "exit_cpuid",
                                      NULL};
static const char *const AXES[] = {AXES_MACHINE, AXES_PROGRAM, NULL};

const struct workload program_steps = {
    .id = "program.steps",
    .family = "other",
    .summary = "a program's instructions, counted one by one, and how many of them are CPUID",
    .answers.columns = COLUMNS,
    .axes = AXES,
    .answers.details = DETAILS,
    ROWS_OF(steps_row),
    .task.copies_memory = true,
    .counts_only = true,
    .needs.available = available,
    .prepare = launch_prepare_program,
    .launch = launch,
};
