/* What the kernel tells of new tasks: formats of two kernels, records whole, cut, lost and over the ring's
 * end. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "check.h"
#include "sys/clone.h"
#include "trace/decode.h"

enum { RAW_AT = 28, RING_BYTES = 256 };

static const char OF_6_18[] = "name: task_newtask\nID: 205\nformat:\n"
                              "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                              "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                              "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
                              "\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n";

static size_t make_sample(unsigned char *record, uint32_t creator, uint32_t tid, uint64_t flags) {
    const uint16_t size = RAW_AT + 44;
    const uint32_t type = 9;
    const uint32_t raw_bytes = 44;
    memset(record, 0, size);
    memcpy(record, &type, sizeof type);
    memcpy(record + 6, &size, sizeof size);
    memcpy(record + 8, &creator, sizeof creator);
    memcpy(record + 24, &raw_bytes, sizeof raw_bytes);
    memcpy(record + RAW_AT + 8, &tid, sizeof tid);
    memcpy(record + RAW_AT + 32, &flags, sizeof flags);
    return size;
}

static void check_format(void) {
    struct newtask_format format;
    CHECK(decode_newtask_format(OF_6_18, &format) == 0, "refused");
    CHECK(format.tid_at == 8 && format.flags_at == 32 && format.flags_bytes == 8, "%zu %zu %zu",
          format.tid_at, format.flags_at, format.flags_bytes);
    CHECK(decode_newtask_format("field:pid_t pid;\toffset:8;\n", &format) == -EINVAL, "no flags");
    CHECK(decode_newtask_format("field:u64 clone_flags;\nx offset:8;\tsize:8;\n", &format) == -EINVAL,
          "numbers of another line");
    CHECK(decode_newtask_format("", &format) == -EINVAL, "nothing");
}

static void check_records(void) {
    const struct newtask_format format = {.tid_at = 8, .flags_at = 32, .flags_bytes = 8};
    unsigned char record[128];
    struct new_task task;
    uint64_t lost = 0;
    size_t length = make_sample(record, 41, 42, TASK_INTO_CGROUP | TASK_VM);
    CHECK(decode_record(record, length, &format, &task, &lost) == RECORD_NEW_TASK, "a whole record");
    CHECK(task.creator == 41 && task.tid == 42 && task.flags == (TASK_INTO_CGROUP | TASK_VM), "its fields");
    CHECK(decode_record(record, 20, &format, &task, &lost) == RECORD_BAD, "cut in its head");
    CHECK(decode_record(record, length - 8, &format, &task, &lost) == RECORD_BAD, "cut in its body");
    CHECK(decode_record(record, 3, &format, &task, &lost) == RECORD_BAD, "cut in its size");
    const struct newtask_format beyond = {.tid_at = 8, .flags_at = 40, .flags_bytes = 8};
    CHECK(decode_record(record, length, &beyond, &task, &lost) == RECORD_BAD, "a field beyond the record");
    memset(record, 0, sizeof record);
    record[0] = 2;
    record[16] = 7;
    CHECK(decode_record(record, 24, &format, &task, &lost) == RECORD_LOST && lost == 7, "lost %d", (int)lost);
    record[0] = 5;
    CHECK(decode_record(record, 24, &format, &task, &lost) == RECORD_OTHER && lost == 7, "another kind");
}

static void check_ring(void) {
    unsigned char ring[RING_BYTES];
    unsigned char record[128];
    unsigned char got[128];
    size_t length = make_sample(record, 1, 2, 3);
    /* The first one goes over the ring's end. */
    uint64_t start = 10 * RING_BYTES + RING_BYTES - 20;
    for (size_t i = 0; i < 2 * length; i++) {
        ring[(start + i) % RING_BYTES] = record[i % length];
    }
    uint64_t tail = start;
    uint64_t head = start + 2 * length;
    for (int i = 0; i < 2; i++) {
        CHECK(decode_ring_next(ring, RING_BYTES, &tail, head, got, sizeof got) == length, "record %d", i);
        CHECK(memcmp(got, record, length) == 0, "record %d differs", i);
    }
    CHECK(decode_ring_next(ring, RING_BYTES, &tail, head, got, sizeof got) == 0 && tail == head, "the end");
    tail = start;
    CHECK(decode_ring_next(ring, RING_BYTES, &tail, start + length - 1, got, sizeof got) == 0,
          "not whole yet");
    tail = start;
    CHECK(decode_ring_next(ring, RING_BYTES, &tail, head, got, 16) == 0 && tail == head, "no room for it");
}

static void check_calls(void) {
    uint64_t flags = 99;
    CHECK(decode_call(SYS_clone, TASK_VM | 17, &flags) == CALL_MAKES_TASK && flags == TASK_VM, "clone");
    CHECK(decode_call(SYS_clone, UINT64_C(0xffffffff00000011), &flags) == CALL_MAKES_TASK && flags == 0,
          "clone takes 32 bits");
    CHECK(decode_call(SYS_clone3, 0x1000, &flags) == CALL_CLONE3, "clone3");
    CHECK(decode_call(SYS_getpid, 0, &flags) == CALL_OTHER, "another call");
#ifdef SYS_vfork
    CHECK(decode_call(SYS_vfork, 0, &flags) == CALL_MAKES_TASK && flags == (TASK_VM | TASK_VFORK), "vfork");
#endif
}

int main(void) {
    check_format();
    check_records();
    check_ring();
    check_calls();
    return 0;
}
