#include "emit/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clock/clock.h"
#include "emit/crc32.h"
#include "emit/json.h"
#include "sys/sys.h"

enum { MOST_ERRNO = 200, DONE_BYTES = 4096 };

static const struct {
    int error;
    const char *name;
} ERRNO_NAMES[] = {
    {EAGAIN, "EAGAIN"}, {ENOMEM, "ENOMEM"}, {ENOSYS, "ENOSYS"},   {EPERM, "EPERM"},   {EINVAL, "EINVAL"},
    {ENOENT, "ENOENT"}, {EACCES, "EACCES"}, {ENOEXEC, "ENOEXEC"}, {ECHILD, "ECHILD"}, {EMFILE, "EMFILE"},
    {ENFILE, "ENFILE"}, {ENOSPC, "ENOSPC"}, {EBUSY, "EBUSY"},     {EINTR, "EINTR"},   {E2BIG, "E2BIG"},
    {EFBIG, "EFBIG"},   {EDQUOT, "EDQUOT"}, {EIO, "EIO"},         {EROFS, "EROFS"},
};

/* The symbol of an errno that launches fail with, or NULL. */
static const char *errno_name(int error) {
    for (size_t i = 0; i < sizeof ERRNO_NAMES / sizeof ERRNO_NAMES[0]; i++) {
        if (ERRNO_NAMES[i].error == error) {
            return ERRNO_NAMES[i].name;
        }
    }
    return NULL;
}

/* x86-64 and arm64 Linux are little-endian, as is the protocol. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a big-endian probe must swap what it sends");

static int send_frame_head(int fd, const char *kind, uint64_t length) {
    unsigned char head[16] = {0};
    memcpy(head, kind, 4);
    memcpy(head + 8, &length, sizeof length);
    return sys_write_all(fd, head, sizeof head);
}

static int send_json(int fd, const char *kind, const struct json *json) {
    if (json->overflow) {
        return -EOVERFLOW;
    }
    int error = send_frame_head(fd, kind, json->length);
    return error != 0 ? error : sys_write_all(fd, json->buffer, json->length);
}

int answer_preamble(int fd) {
    unsigned char preamble[16] = "CLNMETER";
    uint32_t version = 1;
    memcpy(preamble + 8, &version, sizeof version);
    memset(preamble + 12, 0, 4);
    return sys_write_all(fd, preamble, sizeof preamble);
}

/* What is said of a kind of column, and how it is read from a sample and sent. */
static const struct kind {
    const char *type; /* of docs/protocol.md */
    const char *unit;
    size_t width;   /* of what is sent, bytes */
    bool is_signed; /* a value below zero means something */
} KINDS[] = {
    [COLUMN_SINCE_BLOCK] = {"i64", "ns", 8, false},      [COLUMN_SINCE_BEFORE] = {"i64", "ns", 8, false},
    [COLUMN_DURATION] = {"i64", "ns", 8, false},         [COLUMN_EACH] = {"f64", "ns", 8, false},
    [COLUMN_SIGNED_EACH] = {"f64", "ns", 8, true},       [COLUMN_NS] = {"i64", "ns", 8, false},
    [COLUMN_SIGNED_NS] = {"i64", "ns", 8, true},         [COLUMN_BYTES_EACH] = {"f64", "bytes", 8, true},
    [COLUMN_COUNT] = {"i64", "count", 8, false},         [COLUMN_SMALL_COUNT] = {"i64", "count", 8, false},
    [COLUMN_REAL_NS] = {"f64", "ns", 8, false},          [COLUMN_PER_SECOND] = {"f64", "1/s", 8, false},
    [COLUMN_BYTES_PER_S] = {"i64", "bytes/s", 8, false}, [COLUMN_CPU] = {"i32", "cpu", 4, false},
    [COLUMN_ERRNO] = {"i32", "errno", 4, false},         [COLUMN_LAUNCHER] = {"i32", "count", 4, false},
};

const char *answer_unit(enum column_kind kind) {
    return KINDS[kind].unit;
}

bool answer_signed(enum column_kind kind) {
    return KINDS[kind].is_signed;
}

static int64_t since(uint64_t ticks, uint64_t start) {
    return ticks == 0 ? INT64_MIN : clock_ns((int64_t)(ticks - start));
}

/* Ticks for many operations as nanoseconds for each; NaN where there are none. */
static double ns_each(uint64_t ticks, int64_t operations) {
    return ticks == 0 ? (double)NAN : (double)clock_ns((int64_t)ticks) / (double)operations;
}

/* The value of a column of real numbers; NaN for what failed. */
static double real_value(const struct column *column, const struct sample *sample, int64_t operations) {
    const char *field = (const char *)sample + column->offset;
    uint64_t ticks = 0;
    int64_t wide = 0;
    double value = 0;
    if (sample->error != 0) {
        return (double)NAN;
    }
    switch (column->kind) {
    case COLUMN_EACH:
        memcpy(&ticks, field, sizeof ticks);
        return ns_each(ticks, operations);
    case COLUMN_BYTES_EACH:
        memcpy(&wide, field, sizeof wide);
        return wide == INT64_MIN ? (double)NAN : (double)wide / (double)operations;
    case COLUMN_SIGNED_EACH:
        memcpy(&wide, field, sizeof wide);
        return (double)clock_ns(wide) / (double)operations;
    default:
        memcpy(&value, field, sizeof value);
        return value;
    }
}

/* Writes one value to `at`. What failed has no times and no counts. */
static void encode(const struct column *column, const struct sample *sample, uint64_t block_start,
                   int64_t operations, unsigned char *at) {
    const char *field = (const char *)sample + column->offset;
    uint64_t ticks = 0;
    int16_t tiny = 0;
    int32_t small = 0;
    int64_t wide = 0;
    double real = 0;
    switch (column->kind) {
    case COLUMN_CPU:
        memcpy(&small, field, sizeof small);
        small = small < 0 ? INT32_MIN : small;
        memcpy(at, &small, sizeof small);
        return;
    case COLUMN_ERRNO:
    case COLUMN_LAUNCHER:
        memcpy(&tiny, field, sizeof tiny);
        small = tiny;
        memcpy(at, &small, sizeof small);
        return;
    case COLUMN_EACH:
    case COLUMN_REAL_NS:
    case COLUMN_PER_SECOND:
    case COLUMN_BYTES_EACH:
    case COLUMN_SIGNED_EACH:
        real = real_value(column, sample, operations);
        memcpy(at, &real, sizeof real);
        return;
    case COLUMN_SMALL_COUNT:
        memcpy(&tiny, field, sizeof tiny);
        wide = sample->error != 0 || tiny < 0 ? INT64_MIN : tiny;
        break;
    case COLUMN_NS:
    case COLUMN_SIGNED_NS:
    case COLUMN_COUNT:
    case COLUMN_BYTES_PER_S:
        memcpy(&wide, field, sizeof wide);
        wide = sample->error != 0 ? INT64_MIN : wide;
        break;
    case COLUMN_DURATION:
        memcpy(&ticks, field, sizeof ticks);
        wide = since(sample->error != 0 ? 0 : ticks, 0);
        break;
    case COLUMN_SINCE_BLOCK:
    case COLUMN_SINCE_BEFORE:
        memcpy(&ticks, field, sizeof ticks);
        wide = since(ticks, column->kind == COLUMN_SINCE_BLOCK ? block_start : sample->before);
        break;
    }
    memcpy(at, &wide, sizeof wide);
}

static int send_head(int fd, const struct measurement *measurement, int64_t index) {
    const struct workload *workload = measurement->bench.request->workload;
    const struct block *block = &measurement->blocks[index];
    struct json json;
    json_start(&json, measurement->scratch, measurement->scratch_bytes);
    json_open(&json, NULL, '{');
    json_int(&json, "block", index);
    json_text(&json, "workload", workload->id);
    json_text(&json, "temperature", block->temperature);
    json_int(&json, "rows", block->rows);
    json_open(&json, "columns", '[');
    for (const struct column *column = workload->columns; column->name != NULL; column++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", column->name);
        json_text(&json, "type", KINDS[column->kind].type);
        json_text(&json, "unit", answer_unit(column->kind));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return send_json(fd, "HEAD", &json);
}

static int send_columns(int fd, const struct measurement *measurement, const struct block *block,
                        uint32_t *crc) {
    const struct request *request = measurement->bench.request;
    const struct column *columns = request->workload->columns;
    int64_t operations =
        request->workload->operations != NULL ? request->workload->operations(request) : OPERATIONS_EACH;
    unsigned char *buffer = (unsigned char *)measurement->scratch;
    uint64_t length = 0;
    for (const struct column *column = columns; column->name != NULL; column++) {
        length += (uint64_t)block->rows * KINDS[column->kind].width;
    }
    int error = send_frame_head(fd, "COLS", length);
    *crc = 0;
    for (const struct column *column = columns; error == 0 && column->name != NULL; column++) {
        size_t width = KINDS[column->kind].width;
        size_t filled = 0;
        for (int64_t row = 0; error == 0 && row < block->rows; row++) {
            const struct sample *sample = rows_at(request->workload, block->samples, row);
            encode(column, sample, block->start_ticks, operations, buffer + filled);
            filled += width;
            if (filled + width > measurement->scratch_bytes || row == block->rows - 1) {
                *crc = crc32_update(*crc, buffer, filled);
                error = sys_write_all(fd, buffer, filled);
                filled = 0;
            }
        }
    }
    return error;
}

static void write_outcomes(struct json *json, const struct workload *workload, const struct block *block) {
    int64_t counts[MOST_ERRNO] = {0};
    for (int64_t row = 0; row < block->rows; row++) {
        int32_t error = rows_at(workload, block->samples, row)->error;
        counts[error >= 0 && error < MOST_ERRNO ? error : MOST_ERRNO - 1]++;
    }
    json_open(json, "outcomes", '{');
    json_int(json, "ok", counts[0]);
    for (int error = 1; error < MOST_ERRNO; error++) {
        if (counts[error] > 0) {
            char number[24];
            snprintf(number, sizeof number, "errno %d", error);
            const char *name = errno_name(error);
            json_int(json, name != NULL ? name : number, counts[error]);
        }
    }
    json_close(json, '}');
}

static void write_facts(struct json *json, const struct block *block) {
    json_open(json, "facts", '{');
    json_int(json, "wall_ns", block->wall_ns);
    /* What start_ns counts from, on the driver's own clock: whoever listens to the kernel needs it. */
    json_int(json, "start_ticks", (int64_t)block->start_ticks);
    json_open(json, "effective_mhz", '{');
    for (int i = 0; i < block->cpus; i++) {
        char cpu[16];
        snprintf(cpu, sizeof cpu, "%" PRId32, block->cpu[i]);
        if (block->effective_mhz[i] > 0) {
            json_double(json, cpu, block->effective_mhz[i]);
        }
    }
    json_close(json, '}');
    json_int(json, "minor_faults", block->usage.minor_faults);
    json_int(json, "major_faults", block->usage.major_faults);
    json_int(json, "voluntary_switches", block->usage.voluntary_switches);
    json_int(json, "involuntary_switches", block->usage.involuntary_switches);
    json_int(json, "cpu_ns", block->usage.self_cpu_ns);
    json_int(json, "children_cpu_ns", block->usage.children_cpu_ns);
    json_int(json, "system_ns", block->usage.self_system_ns);
    json_int(json, "children_system_ns", block->usage.children_system_ns);
    json_int(json, "vm_pte_bytes", block->parent.vm_pte_bytes);
    json_int(json, "rss_bytes", block->parent.rss_bytes);
    json_int(json, "vmas", block->parent.vmas);
    json_int(json, "threads", block->parent.threads);
    json_int(json, "open_files", block->parent.open_files);
    json_int(json, "anon_huge_bytes", block->parent.anon_huge_bytes);
    json_int(json, "hugetlb_bytes", block->parent.hugetlb_bytes);
    json_close(json, '}');
}

static int send_tail(int fd, const struct measurement *measurement, const struct block *block, uint32_t crc) {
    struct json json;
    json_start(&json, measurement->scratch, measurement->scratch_bytes);
    json_open(&json, NULL, '{');
    json_text(&json, "status", "ok");
    json_text(&json, "reason", NULL);
    json_int(&json, "rows", block->rows);
    json_int(&json, "crc32", crc);
    write_outcomes(&json, measurement->bench.request->workload, block);
    write_facts(&json, block);
    json_close(&json, '}');
    return send_json(fd, "TAIL", &json);
}

int answer_blocks(int fd, const struct measurement *measurement) {
    int error = 0;
    for (int64_t i = 0; error == 0 && i < measurement->block_count; i++) {
        uint32_t crc = 0;
        error = send_head(fd, measurement, i);
        error = error != 0 ? error : send_columns(fd, measurement, &measurement->blocks[i], &crc);
        error = error != 0 ? error : send_tail(fd, measurement, &measurement->blocks[i], crc);
    }
    return error;
}

int answer_done(int fd, const char *status, const char *reason, int error_number, int64_t blocks) {
    char buffer[DONE_BYTES];
    struct json json;
    json_start(&json, buffer, sizeof buffer);
    json_open(&json, NULL, '{');
    json_text(&json, "status", status);
    json_text(&json, "reason", reason);
    if (error_number > 0) {
        json_int(&json, "errno", error_number);
    } else {
        json_text(&json, "errno", NULL);
    }
    json_int(&json, "blocks", blocks);
    json_text(&json, "driver", "probe");
    json_text(&json, "version", CLONOMETER_VERSION);
    json_text(&json, "linkage", options_linkage());
    json_close(&json, '}');
    return send_json(fd, "DONE", &json);
}
