#include "probe/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32.h"
#include "base/json.h"
#include "base/sys.h"

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

/* One value of a row. */
struct value {
    const struct sample *sample;
    const void *field;
    uint64_t block_start;
    int64_t operations;
};

static int64_t since(uint64_t ticks, uint64_t start) {
    return ticks == 0 ? INT64_MIN : clock_ns((int64_t)(ticks - start));
}

static uint64_t ticks_of(const struct value *value) {
    return *(const uint64_t *)value->field;
}

static bool has_failed(const struct value *value) {
    return value->sample->error != 0;
}

static int64_t since_block(const struct value *value) {
    return since(ticks_of(value), value->block_start);
}

/* What failed has no times and no counts: half a launch has no durations. */
static int64_t since_before(const struct value *value) {
    return has_failed(value) ? INT64_MIN : since(ticks_of(value), value->sample->before);
}

static int64_t duration(const struct value *value) {
    return has_failed(value) ? INT64_MIN : since(ticks_of(value), 0);
}

static int64_t whole_number(const struct value *value) {
    return has_failed(value) ? INT64_MIN : *(const int64_t *)value->field;
}

static int64_t small_number(const struct value *value) {
    int16_t number = *(const int16_t *)value->field;
    return has_failed(value) || number < 0 ? INT64_MIN : number;
}

static double duration_each(const struct value *value) {
    int64_t ns = duration(value);
    return ns == INT64_MIN ? (double)NAN : (double)ns / (double)value->operations;
}

static double signed_duration_each(const struct value *value) {
    int64_t ns = clock_ns(*(const int64_t *)value->field);
    return has_failed(value) ? (double)NAN : (double)ns / (double)value->operations;
}

static double whole_number_each(const struct value *value) {
    int64_t number = whole_number(value);
    return number == INT64_MIN ? (double)NAN : (double)number / (double)value->operations;
}

static double real_number(const struct value *value) {
    return has_failed(value) ? (double)NAN : *(const double *)value->field;
}

static int32_t short_duration(const struct value *value) {
    uint32_t ticks = *(const uint32_t *)value->field;
    int64_t ns = clock_ns(ticks);
    return has_failed(value) || ticks == 0 ? INT32_MIN : ns < INT32_MAX ? (int32_t)ns : INT32_MAX;
}

static int32_t cpu_number(const struct value *value) {
    int32_t cpu = *(const int32_t *)value->field;
    return cpu < 0 ? INT32_MIN : cpu;
}

static int32_t code(const struct value *value) {
    return *(const int16_t *)value->field;
}

/* What is said of a kind of column, and how a value is read: as one of the three types that are sent. */
static const struct kind {
    const char *unit;
    bool is_signed; /* a value below zero means something */
    int64_t (*i64)(const struct value *value);
    double (*f64)(const struct value *value);
    int32_t (*i32)(const struct value *value);
} KINDS[] = {
    [COLUMN_SINCE_BLOCK] = {"ns", false, .i64 = since_block},
    [COLUMN_SINCE_BEFORE] = {"ns", false, .i64 = since_before},
    [COLUMN_DURATION] = {"ns", false, .i64 = duration},
    [COLUMN_SHORT] = {"ns", false, .i32 = short_duration},
    [COLUMN_EACH] = {"ns", false, .f64 = duration_each},
    [COLUMN_SIGNED_EACH] = {"ns", true, .f64 = signed_duration_each},
    [COLUMN_NS] = {"ns", false, .i64 = whole_number},
    [COLUMN_SIGNED_NS] = {"ns", true, .i64 = whole_number},
    [COLUMN_BYTES_EACH] = {"bytes", true, .f64 = whole_number_each},
    [COLUMN_SIGNED_BYTES] = {"bytes", true, .i64 = whole_number},
    [COLUMN_COUNT] = {"count", false, .i64 = whole_number},
    [COLUMN_SMALL_COUNT] = {"count", false, .i64 = small_number},
    [COLUMN_REAL_NS] = {"ns", false, .f64 = real_number},
    [COLUMN_REAL_COUNT] = {"count", false, .f64 = real_number},
    [COLUMN_PER_SECOND] = {"1/s", false, .f64 = real_number},
    [COLUMN_BYTES_PER_S] = {"bytes/s", false, .i64 = whole_number},
    [COLUMN_CPU] = {"cpu", false, .i32 = cpu_number},
    [COLUMN_ERRNO] = {"errno", false, .i32 = code},
    [COLUMN_LAUNCHER] = {"count", false, .i32 = code},
};

const char *answer_unit(enum column_kind kind) {
    return KINDS[kind].unit;
}

bool answer_signed(enum column_kind kind) {
    return KINDS[kind].is_signed;
}

/* By its name in docs/protocol.md. */
static const char *type_of(const struct kind *kind) {
    return kind->i32 != NULL ? "i32" : kind->f64 != NULL ? "f64" : "i64";
}

static size_t width_of(const struct kind *kind) {
    return kind->i32 != NULL ? sizeof(int32_t) : sizeof(int64_t);
}

/* Writes one value to `at`. */
static void encode(const struct kind *kind, const struct value *value, unsigned char *at) {
    if (kind->i32 != NULL) {
        int32_t number = kind->i32(value);
        memcpy(at, &number, sizeof number);
    } else if (kind->f64 != NULL) {
        double number = kind->f64(value);
        memcpy(at, &number, sizeof number);
    } else {
        int64_t number = kind->i64(value);
        memcpy(at, &number, sizeof number);
    }
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
    for (const struct column *column = workload->answers.columns; column->name != NULL; column++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", column->name);
        json_text(&json, "type", type_of(&KINDS[column->kind]));
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
    const struct column *columns = request->workload->answers.columns;
    const struct rows *rows = &request->workload->rows;
    struct value value = {.block_start = block->start_ticks,
                          .operations =
                              rows->operations != NULL ? rows->operations(request) : OPERATIONS_EACH};
    unsigned char *buffer = (unsigned char *)measurement->scratch;
    uint64_t length = 0;
    for (const struct column *column = columns; column->name != NULL; column++) {
        length += (uint64_t)block->rows * width_of(&KINDS[column->kind]);
    }
    int error = send_frame_head(fd, "COLS", length);
    *crc = 0;
    for (const struct column *column = columns; error == 0 && column->name != NULL; column++) {
        const struct kind *kind = &KINDS[column->kind];
        size_t width = width_of(kind);
        size_t filled = 0;
        for (int64_t row = 0; error == 0 && row < block->rows; row++) {
            value.sample = rows_at(request->workload, block->samples, row);
            value.field = (const char *)value.sample + column->offset;
            encode(kind, &value, buffer + filled);
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
    json_int(json, "anon_areas", block->parent.anon_areas);
    json_int(json, "anon_bytes", block->parent.anon_bytes);
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
