/* Every workload is whole: an id found again, axes that exist, columns with known stages, no id twice. */
#include <string.h>

#include "check.h"
#include "probe/answer.h"
#include "probe/options.h"
#include "probe/workload.h"

static bool is_detail(const struct workload *workload, const char *column) {
    for (const char *const *name = workload->answers.details; name != NULL && *name != NULL; name++) {
        if (strcmp(*name, column) == 0) {
            return true;
        }
    }
    return false;
}

/* The catalogue has one place for a quantity, and takes what the first workload says. */
static void agree(const struct workload *workload, const struct workload *other) {
    for (const struct column *column = workload->answers.columns; column->name != NULL; column++) {
        for (const struct column *twin = other->answers.columns; twin->name != NULL; twin++) {
            if (strcmp(column->name, twin->name) == 0 && column->summary != NULL && twin->summary != NULL) {
                CHECK(is_detail(workload, column->name) == is_detail(other, column->name),
                      "%s: a detail of %s or of %s alone", column->name, workload->id, other->id);
                CHECK(strcmp(answer_unit(column->kind), answer_unit(twin->kind)) == 0,
                      "%s: two units, %s and %s", column->name, workload->id, other->id);
            }
        }
    }
}

/* What lies beyond the row belongs to the next one. */
static void columns_fit(const struct workload *workload) {
    const struct rows *rows = &workload->rows;
    CHECK(rows->bytes >= sizeof(struct sample) && rows->bytes % sizeof(uint64_t) == 0,
          "%s: rows of %zu bytes", workload->id, rows->bytes);
    CHECK(!rows->of_launches || rows->bytes % sizeof(struct launch_row) == 0, "%s: no row of a launch",
          workload->id);
    for (const struct column *column = workload->answers.columns; column->name != NULL; column++) {
        CHECK(column->offset < rows->bytes, "%s: %s lies behind the row", workload->id, column->name);
    }
}

int main(void) {
    size_t count = 0;
    for (; WORKLOADS[count] != NULL; count++) {
        const struct workload *workload = WORKLOADS[count];
        CHECK(workload_find(workload->id) == workload, "%s stands twice or is not found", workload->id);
        CHECK(workload->launch != NULL && workload->summary != NULL && workload->family != NULL, "%s",
              workload->id);
        for (size_t i = 0; workload->axes[i] != NULL; i++) {
            const struct option *option = option_find(workload->axes[i], strlen(workload->axes[i]));
            CHECK(option != NULL && option->axis, "%s: axis %s", workload->id, workload->axes[i]);
        }
        columns_fit(workload);
        for (size_t i = 0; i < count; i++) {
            agree(workload, WORKLOADS[i]);
        }
        for (const struct null_reason *null = workload->answers.nulls; null != NULL && null->column != NULL;
             null++) {
            const struct column *column = workload->answers.columns;
            while (column->name != NULL && strcmp(column->name, null->column) != 0) {
                column++;
            }
            CHECK(column->name != NULL, "%s: null column %s", workload->id, null->column);
        }
    }
    CHECK(count >= 8, "only %zu workloads", count);
    CHECK(workload_find("launch.nothing") == NULL, "found what does not exist");
    return 0;
}
