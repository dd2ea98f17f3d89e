/* The head of an answer: of one length, so that whoever reads it knows where its numbers are. */
#ifndef CLONOMETER_SERVE_TEXT_H
#define CLONOMETER_SERVE_TEXT_H

#include "workloads/serve/serve.h"

enum {
    TEXT_HEAD_BYTES = 96,
    TEXT_LENGTH_END = 43, /* behind the digits of Content-Length */
    TEXT_SERVED_END = 92, /* and of X-Served, in ns */
    TEXT_SERVED_DIGITS = 13
};

/* Writes the head. */
void text_head(const struct serve *serve, int64_t served_ns, char *head);

#endif
