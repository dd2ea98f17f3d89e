// The same pair of readings through std::chrono.
#include <chrono>

#include "pair.h"

static int64_t ns_of(std::chrono::high_resolution_clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

int main(int argc, char **argv) {
    if (argc < 2) {
        return 2;
    }
    auto first = std::chrono::high_resolution_clock::now();
    auto second = std::chrono::high_resolution_clock::now();
    target_send_pair(argv[1], ns_of(first), ns_of(second));
    return 0;
}
