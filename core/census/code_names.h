/* Names of code that is in no file: just-in-time compilers write them to /tmp/perf-PID.map where they are
 * asked to (node --perf-basic-prof, python -X perf, jcmd PID Compiler.perfmap). Source: jit-interface.txt of
 * perf. */
#ifndef CLONOMETER_CENSUS_CODE_NAMES_H
#define CLONOMETER_CENSUS_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process calls the code at an address, and how far it is into it; NULL where it has not said. The
 * text stays until the program ends. A stranger may have written it. */
const char *code_name(pid_t process, uint64_t address, uint64_t *plus);

/* The same of a text of such lines: "START SIZE NAME", of which the last one counts; it is cut into names. */
struct code_names {
    char *text;
    struct named_code *code; /* in the order of the text */
    size_t count;
};

/* Takes the text, of malloc, over. 0 or -ENOMEM. */
int code_names_read(struct code_names *names, char *text);
const char *code_names_find(const struct code_names *names, uint64_t address, uint64_t *plus);
void code_names_free(struct code_names *names);

#endif
