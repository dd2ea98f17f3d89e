/* Every workload is whole: an id found again, axes that exist, columns with known stages, no id twice. */
#include "check.h"
#include "options.h"
#include "workload.h"

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
        for (const struct null_reason *null = workload->nulls; null != NULL && null->column != NULL; null++) {
            const struct column *column = workload->columns;
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
