#include "census/answer.h"

#include <string.h>

#include "base/sys.h"

enum { ROOM = 1 << 16 /* as much as a pipe has */ };

static char gathered[ROOM];
static size_t gathered_bytes;

int answer_send(int answer) {
    size_t bytes = gathered_bytes;
    gathered_bytes = 0;
    return bytes > 0 ? sys_write_all(answer, gathered, bytes) : 0;
}

int answer_add(int answer, const char *line, size_t length) {
    int error = gathered_bytes + length > ROOM ? answer_send(answer) : 0;
    if (error != 0 || length > ROOM) {
        return error != 0 ? error : sys_write_all(answer, line, length);
    }
    memcpy(gathered + gathered_bytes, line, length);
    gathered_bytes += length;
    return 0;
}
