#include "workloads/team/team.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

enum {
    STACK_BYTES = 64 << 10,
    THREAD_BYTES = 40 << 10,   /* task_struct, kernel stack, the pages of its own stack that it writes */
    PROCESS_BYTES = 256 << 10, /* beside these its page tables and the pages that it writes */
    LOOK_AFTER_NS = 100000000, /* how often whoever waits for the members looks whether they live */
    ALARM_US = 10000,
    NUDGE_NS = 200000
};

/* Set by a handler, which knows no team. There is one team in a process. */
static volatile sig_atomic_t lost;

/* A signal that comes before the sleep it should interrupt is lost: hence again and again. */
static void note_death(int signal_number) {
    (void)signal_number;
    struct itimerval again = {.it_interval = {.tv_usec = ALARM_US}, .it_value = {.tv_usec = ALARM_US}};
    lost = 1;
    setitimer(ITIMER_REAL, &again, NULL);
}

static void interrupt_only(int signal_number) {
    (void)signal_number;
}

/* Without SA_RESTART: to interrupt is what they are for. */
static void handle(int signal_number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal_number, &action, NULL);
}

bool team_of_processes(const struct request *request) {
    return request->task_kind == TASK_KIND_PROCESS;
}

int64_t team_member_bytes(const struct request *request) {
    return team_of_processes(request) ? PROCESS_BYTES : THREAD_BYTES;
}

bool team_over(const struct team *team) {
    return lost != 0 || __atomic_load_n(&team->over, __ATOMIC_ACQUIRE) != 0;
}

int team_await_word(const struct team *team, uint32_t *word, uint32_t seen) {
    int shared = team_of_processes(team->bench->request);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen) {
        if (team_over(team)) {
            return -ECHILD;
        }
        sys_futex_wait(word, seen, shared);
    }
    return 0;
}

int team_cpu(const struct bench *bench, int number) {
    const struct request *request = bench->request;
    if (request->placement == PLACEMENT_FREE) {
        return -1;
    }
    int cpu = request->cpu >= 0 ? (int)request->cpu : sys_highest_cpu(bench->affinity);
    if (request->partner_cpu == PARTNER_CPU_OTHER && number % 2 == 1) {
        do {
            cpu = cpu > 0 ? cpu - 1 : sys_highest_cpu(bench->affinity);
        } while (!sys_cpu_in(bench->affinity, cpu));
    }
    return cpu;
}

int team_map(size_t length, bool shared, unsigned char **memory) {
    int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
    void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    /* EINVAL: a kernel without huge pages, which is what is asked for. */
    if (mapped == MAP_FAILED || (madvise(mapped, length, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)) {
        return -errno;
    }
    memset(mapped, 1, length);
    memset(mapped, 0, length);
    *memory = mapped;
    return 0;
}

/* Prepares and works. Whether it came to work. */
static bool serve(struct team_member *self) {
    struct team *team = self->team;
    int error = self->cpu >= 0 ? sys_pin(self->cpu) : 0;
    if (error != 0) {
        reason_set(&self->reason, error, "task %d cannot be bound to CPU %d: %s", self->number, self->cpu,
                   strerror(-error));
    } else if (team->duty.prepare != NULL) {
        error = team->duty.prepare(team->duty.state, self->number, &self->reason);
    }
    self->error = error;
    self->task = sys_task();
    tally_add(&team->ready);
    if (error == 0) {
        team->duty.work(team->duty.state, self->number);
    }
    return error == 0;
}

static void *serve_as_thread(void *argument) {
    struct team_member *self = argument;
    if (serve(self) && !team_over(self->team)) {
        /* It could not go on. A process that ends is noticed by itself. */
        note_death(0);
    }
    tally_add(&self->team->ended);
    return NULL;
}

/* It lives long: it must not outlive the probe. One that was orphaned before the call took effect sees
 * another parent. */
__attribute__((noreturn)) static void serve_as_process(struct team_member *self) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self->team->starter) {
        serve(self);
    }
    _exit(1);
}

static int start_threads(struct team *team) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    long least = sysconf(_SC_THREAD_STACK_MIN); /* on arm64 more than ours */
    error = pthread_attr_setstacksize(&attributes, least > STACK_BYTES ? (size_t)least : STACK_BYTES);
    for (int i = 0; error == 0 && i < team->members_wanted; i++) {
        error = pthread_create(&team->members[i].thread, &attributes, serve_as_thread, &team->members[i]);
        team->started += error == 0;
    }
    pthread_attr_destroy(&attributes);
    return -error;
}

static int start_processes(struct team *team) {
    for (int i = 0; i < team->members_wanted; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            return -errno;
        }
        if (pid == 0) {
            serve_as_process(&team->members[i]);
        }
        team->members[i].process = pid;
        team->started++;
    }
    return 0;
}

/* Waits until all have prepared themselves: writing their memory may take seconds, so only a death ends it.
 */
static int await_ready(struct team *team, struct reason *reason) {
    uint32_t *count = &team->ready.count;
    uint32_t seen = 0;
    while (!team_over(team) && (seen = __atomic_load_n(count, __ATOMIC_ACQUIRE)) < (uint32_t)team->started) {
        sys_futex_wait_for(count, seen, LOOK_AFTER_NS);
    }
    /* A process that could not prepare itself has ended, too: its own words say more. */
    for (int i = 0; i < team->started; i++) {
        if (team->members[i].error != 0) {
            *reason = team->members[i].reason;
            return team->members[i].error;
        }
    }
    return team_over(team)
               ? reason_set(reason, -ECHILD,
                            "a task died while it was started: was it killed, or did memory run out?")
               : 0;
}

static int check_sense(const struct bench *bench, struct reason *reason) {
    const struct request *request = bench->request;
    if (request->partner_cpu == PARTNER_CPU_SAME) {
        return 0;
    }
    if (request->placement == PLACEMENT_FREE) {
        return reason_set(reason, -EOPNOTSUPP,
                          "partner_cpu=other pins the tasks, placement=free does not: choose one of them");
    }
    return sys_cpu_count(bench->affinity) > 1
               ? 0
               : reason_set(reason, -EOPNOTSUPP,
                            "partner_cpu=other needs two CPUs, but the affinity of this process has one");
}

int team_start(const struct bench *bench, int count, const struct team_duty *duty, struct team **team,
               struct reason *reason) {
    int error = check_sense(bench, reason);
    if (error != 0) {
        return error;
    }
    size_t length = sizeof **team + (size_t)count * sizeof(struct team_member);
    struct team *new_team = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (new_team == MAP_FAILED) {
        return reason_set(reason, -errno, "no memory for %d tasks: %s", count, strerror(errno));
    }
    bool processes = team_of_processes(bench->request);
    new_team->bench = bench;
    new_team->duty = *duty;
    new_team->members_wanted = count;
    new_team->starter = getpid();
    for (int i = 0; i < count; i++) {
        new_team->members[i].team = new_team;
        new_team->members[i].number = i + 1;
        /* Here, since the affinity lies in memory that children do not inherit. */
        new_team->members[i].cpu = team_cpu(bench, i + 1);
    }
    lost = 0;
    *team = new_team;
    handle(SIGALRM, interrupt_only, 0);
    if (processes) {
        handle(SIGCHLD, note_death, SA_NOCLDSTOP);
    }
    error = processes ? start_processes(new_team) : start_threads(new_team);
    if (error != 0) {
        reason_set(reason, error, "only %d of %d tasks could be started: %s", new_team->started, count,
                   strerror(-error));
    }
    int ready_error = await_ready(new_team, error == 0 ? reason : &(struct reason){""});
    error = error != 0 ? error : ready_error;
    if (error != 0) {
        team_end(new_team);
        *team = NULL;
    }
    return error;
}

/* Nobody can kill a thread: each is woken until it has seen that the team is over. */
static void end_threads(struct team *team) {
    struct timespec pause = {.tv_nsec = NUDGE_NS};
    struct itimerval none = {.it_value = {.tv_sec = 0}};
    setitimer(ITIMER_REAL, &none, NULL);
    while (__atomic_load_n(&team->ended.count, __ATOMIC_ACQUIRE) < (uint32_t)team->started) {
        for (int i = 0; i < team->started; i++) {
            pthread_kill(team->members[i].thread, SIGALRM);
        }
        nanosleep(&pause, NULL);
    }
    for (int i = 0; i < team->started; i++) {
        pthread_join(team->members[i].thread, NULL);
    }
}

static void end_processes(struct team *team) {
    struct itimerval none = {.it_value = {.tv_sec = 0}};
    int status;
    /* From here on they die because they are meant to. */
    handle(SIGCHLD, SIG_DFL, 0);
    setitimer(ITIMER_REAL, &none, NULL);
    for (int i = 0; i < team->started; i++) {
        kill(team->members[i].process, SIGKILL);
    }
    for (int i = 0; i < team->started; i++) {
        (void)sys_wait(team->members[i].process, &status);
        team->members[i].process = 0;
    }
}

void team_end(struct team *team) {
    __atomic_store_n(&team->over, 1U, __ATOMIC_RELEASE);
    if (team_of_processes(team->bench->request)) {
        end_processes(team);
    } else {
        end_threads(team);
    }
    lost = 0;
    munmap(team, sizeof *team + (size_t)team->members_wanted * sizeof(struct team_member));
}
