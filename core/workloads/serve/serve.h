/* serve.*: servers of different designs, each under the same load.
 *
 * A client (load.h), a process of its own made before the parent's memory is built, sends requests at set
 * times, whether or not earlier ones were answered. The probe is the server: it listens, and answers by its
 * design. Work, sleep, sizes and memory written are the same in all designs.
 * Timed: from the time at which a request was to be sent until its whole answer has been read, so that a
 * server which falls behind cannot slow its load (no coordinated omission). Of the whole period of load: the
 * CPU time, page faults and switches of all the server's tasks, divided by the answered requests, and its
 * proportional memory (PSS) as the load ends. Outside: the client, starting a pool, building the parent's
 * memory. Bias: what the client is late is part of a latency, and is told by itself (sent_late_ns); answers
 * that wait while the client writes are read some microseconds late. Requests and answers are HTTP/1.1, so
 * that other clients can be pointed at a server. Source: W. R. Stevens, UNIX Network Programming, 3rd ed.,
 * ch. 30 (the designs); B. Schroeder et al., "Open Versus Closed: A Cautionary Tale", NSDI 2006 (the load).
 */
#ifndef CLONOMETER_SERVE_H
#define CLONOMETER_SERVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/sys.h"
#include "probe/workload.h"
#include "workloads/gate/gate.h"

enum {
    SERVE_MOST_CLIENTS = 4096,
    SERVE_MOST_WORKERS = 1024,
    SERVE_MOST_REQUESTS = 1000000, /* of a period */
    SERVE_POOL_WORKERS = 8,        /* of server_workers=0 */
    SERVE_READ_BYTES = 16 << 10,
    SERVE_LINE_BYTES = 128, /* two cache lines */
    SERVE_END_SEEN = 2
};

struct serve;

/* How a server answers. */
struct serve_design {
    /* How many processes it has beside the probe; 0: it is the probe. */
    int (*processes)(const struct serve *serve);
    /* Answers until serve_over, in the probe or in process `number`. Calls serve_ready once it could. */
    void (*serve)(struct serve *serve, int number);
    /* What the probe does meanwhile where there are processes. NULL: it waits for their ends. */
    void (*accept)(struct serve *serve);
    /* How many tasks answer at once; 0: as many as there are connections. */
    int (*answerers)(const struct serve *serve);
    bool listens_apart;         /* each process has a listening socket of its own, where there can be */
    bool multiplexes;           /* a task answers many connections in turn */
    bool a_worker_a_cpu;        /* what server_workers=0 means; else SERVE_POOL_WORKERS */
    bool starts_programs;       /* which have none of the parent's memory */
    bool connection_dies_alone; /* a task for each connection: a crash takes it along, and nothing else */
};

/* What tasks used. */
struct serve_usage {
    int64_t cpu_ns;
    int64_t system_ns;
    int64_t faults;
    int64_t switches;
};

/* A process of the server. */
struct serve_slot {
    _Alignas(SERVE_LINE_BYTES) pid_t pid; /* 0: none */
    uint64_t ready_ticks;                 /* when it could answer */
    struct serve_usage before;            /* what it had used by then */
};

/* What became of a request. All are ns; `intended` counts from the start of the load. */
struct serve_result {
    int64_t intended;
    int64_t latency; /* 0: not answered */
    int64_t served;
    int64_t late;
    int32_t error;
};

/* What server and client share. */
struct serve_shared {
    uint32_t over;  /* the load has ended, or nothing can go on; SERVE_END_SEEN: and the probe knows */
    uint32_t leave; /* processes of the server shall go: later, so that their memory can be seen */
    uint32_t stop;  /* the client shall go */
    int32_t client_error;
    uint64_t start_ticks; /* the origin of `intended` */
    struct serve_result *results;
    struct gate gate;                                   /* opened for each period */
    struct tally ready;                                 /* processes that can answer */
    _Alignas(SERVE_LINE_BYTES) struct serve_usage used; /* by processes that have ended */
    uint64_t crash_ticks;
    int32_t dead_tasks;
    struct serve_slot slots[];
};

/* What a server is, the same for all its tasks, which only read it; in private memory. */
struct serve {
    const struct serve_design *design;
    const struct request *request;
    struct serve_shared *shared; /* NULL: a program, which has none of it */
    size_t shared_bytes;
    size_t own_bytes;      /* of this memory, with the body of answers */
    unsigned char *memory; /* of parent_bytes */
    int64_t dirtied_bytes; /* of it, by each request */
    int64_t block_ns;
    uint64_t iterations;  /* of the work of a request */
    int64_t crash_number; /* the request that crashes; -1: none */
    int64_t requests;     /* of a period */
    int workers;
    bool kept;
    bool forked; /* this task is a process of the server, not the probe */
    pid_t client;
    pid_t probe;
    uint32_t period;
    int listener_count;
    int pair[2]; /* by which descriptors are passed */
    socklen_t address_bytes;
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_in in;
    } address;
    bool client_apart; /* it has a CPU that the server has not */
    struct sys_cpus server_cpus;
    struct sys_cpus client_cpus;
    int32_t live; /* tasks of this process that a crash takes along */
    size_t body_bytes;
    char *body;          /* of answers, behind this */
    struct serve *alone; /* the same without shared memory, for tasks that end with their connection */
    int listeners[];     /* as many as there are processes that listen apart, at least one */
};

/* Whether this task shall go on no longer. */
static inline bool serve_over(const struct serve *serve) {
    const struct serve_shared *shared = serve->shared;
    return shared != NULL &&
           __atomic_load_n(serve->forked ? &shared->leave : &shared->over, __ATOMIC_ACQUIRE) != 0;
}

/* From here on this process answers: what it used before does not count. In the probe the load starts. */
void serve_ready(struct serve *serve, int number);

/* It cannot answer at all: the period ends with this errno. */
void serve_cannot(struct serve *serve, int error);

/* fork.c: reaps those that have ended of so many children, with waitpid's options, and notes which were
 * killed. How many are left. */
int serve_reap(struct serve *serve, int children, int options);

/* inline.c: accepts and answers one connection after the other. */
void serve_in_turn(struct serve *serve, int number);

/* request.c: a request as it comes in, in pieces. */
struct serve_reading {
    int64_t number; /* in its first line; -1: none */
    size_t bytes;
    char first[20];
    char last[4];
};

/* Takes the next piece. Whether the request is whole. */
bool serve_take(struct serve_reading *reading, const char *piece, size_t length);

/* Reads a request from a blocking socket. 0, or -errno: -ECONNRESET at its end. */
int serve_read(const struct serve *serve, int fd, struct serve_reading *reading);

/* Writes what is still to be written of an answer. 0, -EAGAIN where more is left, or another -errno. */
int serve_write_some(const struct serve *serve, int fd, int64_t served_ns, size_t *written);

/* Writes a whole answer, waiting where it must. 0 or -errno. */
int serve_write(const struct serve *serve, int fd, int64_t served_ns);

/* Does the work of a request and tells how long since `ticks`, at which it was read. */
int64_t serve_work(const struct serve *serve, const struct serve_reading *reading, uint64_t ticks);

/* Answers the requests of a connection in a blocking socket until it ends, and closes it. */
void serve_connection(const struct serve *serve, int fd);

/* work.c: how many iterations take so long on this CPU, in CPU time. */
uint64_t serve_calibrate(int64_t work_ns);
void serve_burn(uint64_t iterations);

/* listen.c: the listening sockets. 0, or -errno with the reason. */
int serve_listen(struct serve *serve, struct reason *reason);
/* Ends connections that nobody accepted. */
void serve_drain(const struct serve *serve);
/* Opens a socket that connects without waiting: the descriptor, or -errno. 0, -EINPROGRESS or -errno. */
int serve_connect(const struct serve *serve, int *error);
/* The next connection, whose socket is blocking or not; -EINTR once the load is over. */
int serve_accept(const struct serve *serve, int listener, int flags);

/* pool.c: processes of the server. 0, or -errno. */
int serve_start_pool(struct serve *serve, int count);
/* Waits for ends of processes and replaces them, until the load is over. */
void serve_watch_pool(struct serve *serve);
/* Replaces those that have ended, without waiting. */
void serve_mend_pool(struct serve *serve);
/* Ends all and waits for them. */
void serve_end_pool(struct serve *serve);

/* usage.c */
void serve_usage_take(struct serve_usage *usage, const struct rusage *rusage);
/* Of this process, and of the children that it has reaped. */
void serve_usage_read(struct serve_usage *usage);
void serve_usage_read_self(struct serve_usage *usage);
void serve_usage_add(struct serve_usage *sum, const struct serve_usage *before,
                     const struct serve_usage *after);
/* Proportional memory of the server, without what it shares with the client. -1: the kernel does not tell. */
int64_t serve_pss(const struct serve *serve);

/* period.c: one period of load. 0, or -errno. */
struct serve_period {
    struct serve_usage used;
    int64_t pss;
};
int serve_run_period(struct serve *serve, struct serve_period *period);

/* server.c: what all designs have in their tables. */
struct serve_row {
    struct sample sample; /* `before`: the intended time of sending */
    double latency;
    int64_t served;
    int64_t late;
    /* Of the whole period, in its first answered row alone. */
    double cpu_each;
    double system_each;
    double faults_each;
    double switches_each;
    double served_per_s;
    int64_t pss;
    int64_t failed;
    int64_t lost;
    int64_t dead_tasks;
    int64_t whole_again;
};
extern const struct column SERVE_COLUMNS[];
extern const char *const SERVE_DETAILS[];
extern const char *const SERVE_AXES[];
extern const char *const SERVE_POOL_AXES[];
int64_t serve_rows_each(const struct request *request);
int serve_prepare(struct bench *bench, struct reason *reason);
int serve_launch(const struct bench *bench, struct sample *sample);
void serve_finish(struct bench *bench);
int serve_check(const struct request *request, struct reason *reason);

/* What is the same in the table's rows of all servers; `about` is the design. */
#define SERVE_FACTS                                                                                          \
    .family = "server", .places_itself = true, ROWS_OF(serve_row), .rows.each = serve_rows_each,             \
    .answers.columns = SERVE_COLUMNS, .answers.details = SERVE_DETAILS, .needs.check = serve_check,          \
    .launch = serve_launch, .finish = serve_finish

/* spawn.c: main of the programs that it starts: the words after SERVE_PROGRAM_WORD. The exit status. */
#define SERVE_PROGRAM_WORD "--serve"
int serve_program_main(int count, char **words);

/* results.c: rows of a period, from what became of its requests. */
void serve_fill_rows(const struct serve *serve, const struct serve_period *period, struct serve_row *rows);
void serve_fail_rows(const struct serve *serve, int error, struct serve_row *rows);

#endif
