/* A request of serve.*: whole with its last byte, however it comes in pieces; an answer has its sizes. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "workloads/serve/text.h"

static const char REQUEST[] = "GET /0000000042 HTTP/1.1\r\nHost: a\r\n\r\n";

static void take_in_pieces(size_t piece_bytes) {
    struct serve_reading reading;
    memset(&reading, 0, sizeof reading);
    size_t all = sizeof REQUEST - 1;
    for (size_t at = 0; at < all; at += piece_bytes) {
        size_t length = all - at < piece_bytes ? all - at : piece_bytes;
        bool whole = serve_take(&reading, REQUEST + at, length);
        CHECK(whole == (at + length == all), "pieces of %zu: whole after %zu bytes", piece_bytes,
              at + length);
    }
    CHECK(reading.bytes == all, "%zu bytes", reading.bytes);
    CHECK(memcmp(reading.first, REQUEST, sizeof reading.first) == 0, "its first line is lost");
}

static void write_answer(size_t body_bytes) {
    static char body[5000];
    char text[sizeof body + TEXT_HEAD_BYTES + 1] = {0};
    char expected[64];
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "no pair of sockets");
    memset(body, 'x', sizeof body);
    struct serve serve = {.body = body, .body_bytes = body_bytes};
    CHECK(serve_write(&serve, pair[0], 1234567) == 0, "it cannot be written");
    close(pair[0]);
    size_t length = 0;
    for (ssize_t part = 1; part > 0; length += (size_t)(part > 0 ? part : 0)) {
        part = read(pair[1], text + length, sizeof text - 1 - length);
    }
    close(pair[1]);
    CHECK(length == TEXT_HEAD_BYTES + body_bytes, "%zu bytes", length);
    snprintf(expected, sizeof expected, "Content-Length: %010zu\r\n", body_bytes);
    CHECK(strstr(text, expected) != NULL, "no %s in %s", expected, text);
    CHECK(strstr(text, "X-Served: 0000001234567\r\n\r\n") != NULL, "no time in %s", text);
}

int main(void) {
    for (size_t piece_bytes = 1; piece_bytes < sizeof REQUEST; piece_bytes++) {
        take_in_pieces(piece_bytes);
    }
    write_answer(0);
    write_answer(1);
    write_answer(5000);
    return 0;
}
