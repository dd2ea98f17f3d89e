#include "census/signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { COUNT = sizeof SIGNALS / sizeof SIGNALS[0], ONE_INTERRUPT_S = 5 };

static volatile sig_atomic_t came; /* a bit each */
static volatile sig_atomic_t starter_alone;
static volatile time_t interrupted_s;
static pid_t starter;
static bool ended_children_ignored;

/* Seconds; 0 at boot. */
static time_t now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* The kernel sends an interrupt to a group from its newest member on, so we have it before our starter passes
 * its own on. One signal that is pending swallows another: of several in a row fewer may come. */
static void note(int number, siginfo_t *from, void *context) {
    (void)context;
    bool passed_on = number == SIGINT && from->si_code == SI_USER && from->si_pid == starter;
    if (!passed_on) {
        came |= 1 << number;
        interrupted_s = number == SIGINT ? now_s() : interrupted_s;
    } else if ((came & 1 << SIGINT) == 0 || now_s() - interrupted_s > ONE_INTERRUPT_S) {
        starter_alone = 1;
    }
}

bool signals_asked(bool answered) {
    return starter_alone != 0 || (came & ~(answered ? 1 << SIGINT : 0)) != 0;
}

bool signals_came(int number) {
    return number > 0 && number <= SIGTERM && (came >> number & 1) != 0;
}

void signals_catch(void) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    starter = getppid();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT; i++) {
        sigaddset(&action.sa_mask, SIGNALS[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        struct sigaction former;
        if (sigaction(SIGNALS[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN) {
            sigaction(SIGNALS[i], &action, NULL);
        }
    }
    /* Where it is ignored, which is inherited, nobody can be waited for. */
    ended_children_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void signals_give_back(void) {
    if (ended_children_ignored) {
        (void)signal(SIGCHLD, SIG_IGN);
    }
}
