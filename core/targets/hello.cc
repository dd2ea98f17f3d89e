// The same program in C++: the dynamic linker loads and relocates libstdc++, libm and libgcc_s before its
// entry.
#include <iostream>

int main() {
    std::cout << "hello, world\n";
    return std::cout.flush() ? 0 : 1;
}
