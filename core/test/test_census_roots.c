/* What tells a task from a later one with its number. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census/census.h"
#include "census/roots.h"
#include "check.h"

enum { TICK_NS = 10000000 };

int main(void) {
    struct root_facts facts;
    siginfo_t ended;
    uint64_t before_ns = census_now_ns();
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    uint64_t after_ns = census_now_ns();
    CHECK(roots_look(child, &facts), "it is there");
    CHECK(facts.began_ns + TICK_NS >= before_ns && facts.began_ns <= after_ns, "since it was made");
    CHECK(facts.group == getpgrp() && !facts.ended, "in our group");
    CHECK(roots_look(getpid(), &facts) && facts.began_ns <= before_ns, "we were there before");
    kill(child, SIGKILL);
    CHECK(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) == 0, "its end");
    CHECK(roots_look(child, &facts) && facts.ended, "nobody has waited for it");
    CHECK(waitpid(child, NULL, 0) == child && !roots_look(child, &facts), "it has gone");
    return 0;
}
