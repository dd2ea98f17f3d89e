/* When a census is over, and how a command is ended whose time is: with all of its group that it has made. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "census/census.h"
#include "census/roots.h"
#include "census/signals.h"
#include "events/pidfd.h"

static const uint64_t GRACE_NS = 2000000000;
enum { LOOKS = 10 };

struct look {
    struct census *census;
    bool patient;
    size_t living;
    uint64_t began_ns;
};

/* Whose turn is what: a request to end once, and an end after that. 0: nothing. */
static int turn_of(struct look *look, pid_t process) {
    struct roots *asked_to_end = look->census->asked_to_end;
    bool asked = asked_to_end != NULL && roots_have(asked_to_end, process);
    if (asked_to_end != NULL) {
        (void)roots_add(asked_to_end, process);
    }
    return !look->patient ? SIGKILL : asked ? 0 : SIGTERM;
}

/* Numbers are few on some machines, and of a job's processes all may have one group: the handle is opened
 * first, and then it is looked whether what it stands for was there when the number was learned. */
static void meet(void *context, pid_t process, uint64_t known_ns) {
    struct look *look = context;
    struct root_facts facts;
    /* As long as the command's end is not among the events that were read, nor is what it has made last. */
    if (process == look->census->pid) {
        look->living++;
        return;
    }
    int handle = pidfd_of(process);
    /* Who has left the group meant to live on. */
    if (roots_look(process, &facts) && !facts.ended && facts.began_ns <= known_ns &&
        facts.group == look->census->group) {
        look->living++;
        int number = turn_of(look, process);
        if (number != 0) {
            (void)pidfd_signal(handle, process, number);
        }
    }
    if (handle >= 0) {
        close(handle);
    }
}

static void meet_below(void *context, pid_t process) {
    const struct look *look = context;
    meet(context, process, look->began_ns);
}

/* Those that have lost their parent are ours from here on: to find, and to wait for (command_ended). */
static void begin_to_end(struct census *census) {
    census->ending_ns = census_now_ns();
    census->asked_to_end = roots_new();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Tells it to end, and all processes of its group that it has made, as timeout(1) does; later kills them. The
 * family knows those that lost their parent before, /proc those whose events had no room. To be called again
 * and again; whether they have ended, or nothing helps: a census that was held up has let time go by without
 * looking who is there. */
static bool command_end(struct census *census, struct family *family) {
    if (census->ending_ns == 0) {
        begin_to_end(census);
    }
    uint64_t now_ns = census_now_ns();
    uint64_t waited_ns = now_ns - census->ending_ns;
    bool ended = census->exit_status >= 0;
    struct look look = {.census = census, .patient = waited_ns <= GRACE_NS, .began_ns = now_ns};
    if (!ended) {
        gated_signal(&census->gated, turn_of(&look, census->pid));
    }
    family_living(family, meet, &look);
    roots_below(getpid(), meet_below, &look);
    census->looks++;
    return (ended && look.living == 0) || (waited_ns > 2 * GRACE_NS && census->looks > LOOKS);
}

/* Whether a signal or the time ends it, and notes which. What has left the command's group an interrupt from
 * the terminal does not reach. */
static bool told_to_end(struct census *census, bool ended) {
    census->interrupted = signals_asked(census->command != NULL && !ended);
    census->timed_out =
        census->most_ns > 0 && census_now_ns() - census->begin_ns >= (uint64_t)census->most_ns;
    return census->interrupted || census->timed_out;
}

bool census_over(struct census *census, struct family *family, bool ended) {
    if (census->ending_ns != 0) {
        return command_end(census, family);
    }
    if (!ended) {
        return told_to_end(census, ended) && (census->command == NULL || command_end(census, family));
    }
    uint64_t alive = census->until_all_end ? family_alive(family) : 0;
    if (alive == 0 || told_to_end(census, ended)) {
        return true;
    }
    if (!census->outlived) {
        census->outlived = true;
        (void)tell_outlived(census, alive);
    }
    return false;
}
