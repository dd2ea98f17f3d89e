// The same program in C++: the dynamic linker loads and relocates libstdc++, libm and libgcc_s before its
// entry.
#include <iostream>

#include "stamps.h"

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : nullptr;
    clonometer_main_begins(what);
    std::cout << "hello, world\n";
    bool failed = !std::cout.flush();
    clonometer_main_ends(what);
    return failed ? 1 : 0;
}
