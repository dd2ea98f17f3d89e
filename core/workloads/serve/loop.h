/* A loop of events: one task that reads requests from many connections. */
#ifndef CLONOMETER_SERVE_LOOP_H
#define CLONOMETER_SERVE_LOOP_H

#include "workloads/serve/serve.h"

enum { LOOP_MOST_FILES = SERVE_MOST_CLIENTS + 1024 };

/* A connection, by its descriptor. */
struct loop_visit {
    struct serve_reading reading;
    int64_t served; /* of the answer that is being written; 0: none is */
    size_t written;
    bool watched; /* epoll knows the descriptor */
};

struct loop {
    struct serve *serve;
    int epoll;
    int listener;
    /* A request is whole. Whether the loop shall go on with the connection at once. */
    bool (*request)(struct loop *loop, int fd);
    void *state;
    struct loop_visit visits[LOOP_MOST_FILES];
};

/* Memory and an epoll instance. NULL: there is none. `shared`: other tasks wait at the same listener. */
struct loop *loop_open(struct serve *serve, int listener, bool shared,
                       bool (*request)(struct loop *loop, int fd));
/* Waits and reads until the load is over. */
void loop_run(struct loop *loop);
void loop_close(struct loop *loop);

/* Goes on writing an answer. Whether it is done; else the loop waits until there is room. */
bool loop_write(struct loop *loop, int fd);
/* Waits for the next request of a connection that somebody else has answered. */
void loop_take_back(struct loop *loop, int fd);

#endif
