/* Trial division, as a beginner writes it: by every number from 2 on, primes or not. */
#include "workloads/work/work.h"

int work_factors(uint32_t number, bool at_root, uint32_t factors[32], int64_t *divisions) {
    int count = 0;
    int64_t divided = 0;
    for (uint32_t divisor = 2; number > 1;) {
        if (at_root && divisor > number / divisor) {
            factors[count++] = number;
            break;
        }
        divided++;
        if (number % divisor == 0) {
            factors[count++] = divisor;
            number /= divisor;
        } else {
            divisor++;
        }
    }
    *divisions += divided;
    return count;
}

static size_t put_number(uint32_t number, char *at) {
    char digits[10];
    size_t length = 0;
    do {
        digits[length++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < length; i++) {
        at[i] = digits[length - 1 - i];
    }
    return length;
}

size_t work_line(uint32_t number, const uint32_t *factors, int count, char *line) {
    size_t length = put_number(number, line);
    line[length++] = ':';
    for (int i = 0; i < count; i++) {
        line[length++] = ' ';
        length += put_number(factors[i], line + length);
    }
    line[length++] = '\n';
    return length;
}
