/* Which part of a program's life an instruction belongs to: the loader's, the start's, main's, the exit's. */
#include "workloads/program/steps.h"

#include <string.h>

#include "check.h"

enum { CPUID = 0xa20f, OTHER = 0x9090, LOADER = 0x7000, ENTRY = 0x1000, LIBRARY = 0x5000, MAIN = 0x2000 };
enum { STACK = 0x9000, BACK = 0x5010 };

static struct steps_watch watch;

static void begin(uint64_t entry) {
    memset(&watch, 0, sizeof watch);
    watch.entry = entry;
}

/* ld.so, _start with main in the first argument, the library, main, its return. */
static void test_a_life(void) {
    begin(ENTRY);
    CHECK(!steps_take(&watch, LOADER, CPUID, STACK, 0), "the loader is not main");
    CHECK(!steps_take(&watch, MAIN, OTHER, STACK, 0), "nor is its address before the entry");
    CHECK(!steps_take(&watch, ENTRY, OTHER, STACK, 0), "the entry");
    CHECK(!steps_take(&watch, ENTRY + 4, OTHER, STACK - 24, MAIN), "main is handed on");
    CHECK(!steps_take(&watch, LIBRARY, CPUID, STACK - 400, 1), "the library's start");
    CHECK(!steps_take(&watch, LIBRARY + 2, CPUID, STACK - 400, 1), "the library's start");
    CHECK(steps_take(&watch, MAIN, OTHER, STACK - 200, 1), "main begins");
    watch.return_address = BACK;
    /* The same place deeper on the stack: main calls what was called from there before. */
    steps_take(&watch, BACK, OTHER, STACK - 300, 0);
    steps_take(&watch, MAIN + 2, CPUID, STACK - 200, 0);
    steps_take(&watch, BACK, OTHER, STACK - 192, 0);
    steps_take(&watch, LIBRARY, OTHER, STACK - 400, 0);
    static const int64_t INSTRUCTIONS[] = {2, 4, 3, 2};
    static const int64_t CPUIDS[] = {1, 2, 1, 0};
    for (int i = 0; i < STEPS_PHASES; i++) {
        CHECK(watch.steps.instructions[i] == INSTRUCTIONS[i], "phase %d: %lld instructions", i,
              (long long)watch.steps.instructions[i]);
        CHECK(watch.steps.cpuid[i] == CPUIDS[i], "phase %d: %lld CPUID", i, (long long)watch.steps.cpuid[i]);
    }
    CHECK(watch.steps.found_main, "main was found");
    CHECK(watch.steps.main_from_entry == MAIN - ENTRY, "and where it is");
}

/* An address that only functions deep in the library hand on is not main. */
static void test_no_main(void) {
    begin(ENTRY);
    steps_take(&watch, ENTRY, OTHER, STACK, 0);
    steps_take(&watch, LIBRARY, OTHER, STACK - 400, MAIN);
    CHECK(!steps_take(&watch, MAIN, OTHER, STACK - 408, MAIN),
          "a function that the library calls is not main");
    CHECK(!watch.steps.found_main && watch.steps.instructions[STEPS_START] == 3, "all is the start's");
}

int main(void) {
    test_a_life();
    test_no_main();
    return 0;
}
