#include "census/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int number) {
    caught = number;
}

int signals_caught(void) {
    return caught;
}

void signals_catch(void) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct sigaction action;
        sigaction(SIGNALS[i], NULL, &action);
        if (action.sa_handler != SIG_IGN) {
            action = (struct sigaction){.sa_handler = note};
            sigaction(SIGNALS[i], &action, NULL);
        }
    }
    /* Where it is ignored, which is inherited, nobody can be waited for. */
    (void)signal(SIGCHLD, SIG_DFL);
}
