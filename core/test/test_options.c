/* Requests: defaults, values, and each way to be wrong, with the word that was wrong in the reason. */
#include <errno.h>

#include "check.h"
#include "probe/options.h"
#include "probe/workload.h"

static void answers(const char *word, int wanted, const char *expected) {
    char workload[] = "workload=launch.fork";
    char copy[128];
    snprintf(copy, sizeof copy, "%s", word);
    char *words[] = {workload, copy};
    struct request request;
    struct reason reason = {""};
    int error = options_parse(2, words, &request, &reason);
    CHECK(error == wanted, "%s: error %d", word, error);
    CHECK(strstr(reason.text, expected) != NULL, "%s: said '%s'", word, reason.text);
}

static void refused(const char *word, const char *expected) {
    answers(word, -EINVAL, expected);
}

/* Skipped, not failed: the probe understands it, and cannot do so much. */
static void beyond(const char *word, const char *expected) {
    answers(word, -EOPNOTSUPP, expected);
}

int main(void) {
    struct request request;
    struct reason reason = {""};
    char workload[] = "workload=launch.fork";
    char memory[] = "parent_bytes=1073741824";
    char pages[] = "pages=clean";
    char both[] = "temperatures=cold,warm";
    char *words[] = {workload, memory, pages, both};
    CHECK(options_parse(4, words, &request, &reason) == 0, "%s", reason.text);
    CHECK(request.parent_bytes == 1073741824 && request.pages == PAGES_CLEAN, "values");
    CHECK(request.cold && request.warm && request.samples == 200 && request.blocks == 3, "defaults");
    CHECK(request.cpu == -1 && request.placement == PLACEMENT_PINNED && request.stages == STAGES_ALL,
          "defaults");

    refused("parent_bytes=-1", "parent_bytes=-1");
    refused("parent_bytes=12x", "parent_bytes=12x");
    refused("parent_bytes=99999999999999999999", "parent_bytes");
    refused("pages=dirty", "'dirty'");
    refused("colour=red", "'colour'");
    refused("program=/bin/true", "no axis 'program'");
    refused("samples=0", "samples=0");
    beyond("samples=99999999", "samples=99999999");
    refused("temperatures=hot", "hot");
    refused("linkage=musl", "linkage=musl");
    refused("clock=tsc", "clock_hz");
    refused("word", "key=value");
    refused("launch_number=0", "from 1");
    beyond("launch_number=100001", "at most");

    char warm[] = "temperatures=warm";
    char second[] = "launch_number=2";
    char *never[] = {workload, warm, second};
    CHECK(options_parse(3, never, &request, &reason) == -EOPNOTSUPP,
          "a cold condition of a warm cell was taken");
    CHECK(options_parse(4, (char *[]){workload, both, second, pages}, &request, &reason) == 0, "%s",
          reason.text);

    char nothing[] = "workload=launch.nothing";
    char *unknown[] = {nothing};
    CHECK(options_parse(1, unknown, &request, &reason) == -EINVAL, "an unknown workload was taken");
    CHECK(strstr(reason.text, "launch.nothing") != NULL, "said '%s'", reason.text);
    CHECK(options_parse(0, unknown, &request, &reason) == -EINVAL, "no workload was taken");
    return 0;
}
