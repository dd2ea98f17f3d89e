/* The smallest useful program: what sysel-2020 execs. */
#include <stdio.h>

#include "stamps.h"

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : NULL;
    clonometer_main_begins(what);
    int status = puts("hello, world") < 0;
    clonometer_main_ends(what);
    return status;
}
