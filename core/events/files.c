#include "events/files.h"

#include <stdbool.h>
#include <sys/resource.h>

static struct rlimit former;
static bool raised;

void files_raise(void) {
    if (getrlimit(RLIMIT_NOFILE, &former) == 0 && former.rlim_cur < former.rlim_max) {
        const struct rlimit most = {.rlim_cur = former.rlim_max, .rlim_max = former.rlim_max};
        raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
    }
}

void files_restore(void) {
    if (raised) {
        (void)setrlimit(RLIMIT_NOFILE, &former);
    }
}
