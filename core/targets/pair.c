/* Reads a clock twice, before it has read any: the page of the vDSO and its data are cold for the first
 * reading, and what follows its reading of the counter for the second. argv[2] says which clock. */
#include <time.h>

#include "pair.h"

static int64_t ns_of(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static clockid_t clock_of(char first_letter) {
    return first_letter == 'p'   ? CLOCK_PROCESS_CPUTIME_ID
           : first_letter == 'm' ? CLOCK_MONOTONIC
                                 : CLOCK_REALTIME;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    clockid_t id = clock_of(argv[2][0]);
    struct timespec first;
    struct timespec second;
    clock_gettime(id, &first);
    clock_gettime(id, &second);
    target_send_pair(argv[1], ns_of(first), ns_of(second));
    return 0;
}
