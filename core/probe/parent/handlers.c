/* Handlers of fork, as libraries register them. They do nothing: what is measured is that there are some. */
#include <pthread.h>
#include <string.h>

#include "probe/parent/parts.h"

static void do_nothing(void) {
}

int parent_handlers_build(const struct bench *bench, struct reason *reason) {
    for (int64_t i = 0; i < bench->request->fork_handlers; i++) {
        int error = pthread_atfork(do_nothing, do_nothing, do_nothing);
        if (error != 0) {
            return reason_set(reason, -error, "only %lld of %lld fork handlers could be registered: %s",
                              (long long)i, (long long)bench->request->fork_handlers, strerror(error));
        }
    }
    return 0;
}
