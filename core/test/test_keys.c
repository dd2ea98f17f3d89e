/* Words key=value by a table: what is stored, and each refusal with what was wrong and what is allowed. */
#include <errno.h>
#include <unistd.h>

#include "base/keys.h"
#include "check.h"

struct asked {
    int64_t how;
    int64_t events;
    int64_t bytes;
    const char *until;
    const char *file;
};

static const struct key KEYS[] = {
    {.name = "how",
     .kind = KEY_CHOICE,
     .offset = offsetof(struct asked, how),
     .choices = (const char *const[]){"auto", "own", NULL}},
    {.name = "events",
     .kind = KEY_LIST,
     .offset = offsetof(struct asked, events),
     .choices = (const char *const[]){"task", "tasks", "calls", NULL}},
    {.name = "bytes",
     .kind = KEY_BYTES,
     .offset = offsetof(struct asked, bytes),
     .least = 1,
     .most = 1 << 20},
    {.name = "until",
     .kind = KEY_CHOICE,
     .keep_text = true,
     .offset = offsetof(struct asked, until),
     .choices = (const char *const[]){"all", NULL}},
    {.name = "file", .kind = KEY_TEXT, .keep_text = true, .offset = offsetof(struct asked, file)},
    {.name = NULL},
};

static void refused(const char *word, const char *expected) {
    struct asked asked = {.how = 7, .events = 7, .bytes = 7};
    struct reason reason = {""};
    int error = keys_read(word, KEYS, &asked, &reason);
    CHECK(error == -EINVAL, "%s: error %d", word, error);
    CHECK(strcmp(reason.text, expected) == 0, "%s: said '%s'", word, reason.text);
    CHECK(asked.how == 7 && asked.events == 7 && asked.bytes == 7 && asked.until == NULL &&
              asked.file == NULL,
          "%s: something was stored", word);
}

static void values_are_stored(void) {
    const char *const WORDS[] = {"how=own", "events=calls,task", "bytes=1048576", "until=all", "file=a=b,c"};
    struct asked asked = {.how = 0};
    struct reason reason = {""};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        CHECK(keys_read(WORDS[i], KEYS, &asked, &reason) == 0, "%s: %s", WORDS[i], reason.text);
    }
    CHECK(asked.how == 1 && asked.events == 5 && asked.bytes == 1048576, "numbers");
    CHECK(strcmp(asked.until, "all") == 0 && strcmp(asked.file, "a=b,c") == 0, "texts");
}

static void descriptors_are_open(void) {
    static const char *const NONE[] = {"", "x", "1x", "-1", "4294967297", "99999999999999999999", "987"};
    struct reason reason = {""};
    CHECK(keys_descriptor("1", &reason) == STDOUT_FILENO, "%s", reason.text);
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        CHECK(keys_descriptor(NONE[i], &reason) == -EBADF, "--fd %s was taken", NONE[i]);
        CHECK(strstr(reason.text, "is not an open descriptor") != NULL, "said '%s'", reason.text);
    }
}

int main(void) {
    values_are_stored();
    refused("how=best", "how has no value 'best'; allowed: auto, own");
    refused("how=", "how has no value ''; allowed: auto, own");
    refused("events=tasks,call", "events has no value 'call'; allowed: task, tasks, calls");
    refused("events=tasks,", "events has no value ''; allowed: task, tasks, calls");
    refused("bytes=0", "bytes=0: not a whole number from 1 to 1048576");
    refused("bytes=0.5", "bytes=0.5: not a whole number from 1 to 1048576");
    refused("bytes=1.5", "bytes=1.5: not a whole number from 1 to 1048576");
    refused("bytes=1048577", "bytes=1048577: not a whole number from 1 to 1048576");
    refused("bytes=", "bytes=: not a whole number from 1 to 1048576");
    refused("bytes=99999999999999999999", "bytes=99999999999999999999: not a whole number from 1 to 1048576");
    refused("until=some", "until has no value 'some'; allowed: all");
    refused("byte=1", "unknown key 'byte'; allowed: how, events, bytes, until, file");
    refused("bytes", "'bytes' is not key=value; allowed keys: how, events, bytes, until, file");
    descriptors_are_open();
    return 0;
}
