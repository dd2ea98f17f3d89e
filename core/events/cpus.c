#include "events/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sys.h"

/* The last number of a list such as "0-3,8-11"; -1 where it does not end with one. */
static long last_number(const char *list) {
    enum { DECIMAL = 10 };
    long number = -1;
    for (const char *at = list; *at != '\0' && *at != '\n';) {
        char *end = NULL;
        number = strtol(at, &end, DECIMAL);
        if (end == at || (*end != '-' && *end != ',' && *end != '\n' && *end != '\0')) {
            return -1;
        }
        at = *end == '-' || *end == ',' ? end + 1 : end;
    }
    return number;
}

long cpus_possible(const char *root) {
    char path[512];
    char list[8192];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/possible", root);
    long length = sys_read_file(path, list, sizeof list);
    /* One that fills the room may be cut. */
    long highest = length > 0 && (size_t)length < sizeof list - 1 ? last_number(list) : -1;
    /* Without /sys the C library tells how many there are; musl only how many this task may use. */
    long cpus = highest >= 0 ? highest + 1 : sysconf(_SC_NPROCESSORS_CONF);
    return cpus <= CPUS_MOST ? cpus : -ERANGE;
}
