/* The smallest useful program: what sysel-2020 execs. */
#include <stdio.h>

int main(void) {
    return puts("hello, world") < 0;
}
