#include "tracer/peek.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Addresses of the other process stand where pointers are meant.
 * NOLINTBEGIN(performance-no-int-to-ptr) */

static size_t copy(pid_t task, uint64_t address, void *to, size_t length) {
    /* A read that meets memory which is not there gives nothing of that piece: so a piece ends with a page.
     */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t first = (size_t)(page - address % page);
    first = first < length ? first : length;
    struct iovec local = {.iov_base = to, .iov_len = length};
    struct iovec remote[] = {
        {.iov_base = (void *)(uintptr_t)address, .iov_len = first},
        {.iov_base = (void *)(uintptr_t)(address + first), .iov_len = length - first},
    };
    ssize_t got = process_vm_readv(task, &local, 1, remote, length > first ? 2 : 1, 0);
    return got > 0 ? (size_t)got : 0;
}

/* NOLINTEND(performance-no-int-to-ptr) */

/* A text with its zero byte, cut at PEEK_TEXT and at `room`. */
static size_t copy_text(pid_t task, uint64_t address, char *to, size_t room) {
    size_t most = room < PEEK_TEXT ? room : PEEK_TEXT;
    size_t got = most > 0 ? copy(task, address, to, most) : 0;
    if (got == 0) {
        return 0;
    }
    size_t length = strnlen(to, got);
    length = length < got ? length : got - 1;
    to[length] = '\0';
    return length + 1;
}

static size_t copy_texts(pid_t task, uint64_t address, char *to) {
    size_t length = 0;
    for (int i = 0; i < PEEK_MOST_TEXTS; i++) {
        uint64_t text = 0;
        size_t added = 0;
        if (copy(task, address + (uint64_t)i * sizeof text, &text, sizeof text) == sizeof text && text != 0) {
            added = copy_text(task, text, to + length, PEEK_BYTES - length);
        }
        if (added == 0) {
            break;
        }
        length += added;
    }
    return length;
}

size_t peek(pid_t task, const struct pointed *pointed, uint64_t address, char bytes[PEEK_BYTES]) {
    switch (pointed->kind) {
    case POINTED_TEXT:
        return copy_text(task, address, bytes, PEEK_BYTES);
    case POINTED_TEXTS:
        return copy_texts(task, address, bytes);
    default:
        return copy(task, address, bytes, pointed->bytes < PEEK_BYTES ? pointed->bytes : PEEK_BYTES);
    }
}
