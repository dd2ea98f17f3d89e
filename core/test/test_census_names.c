/* Programs are known by the names that people know them by, and long paths keep their ends. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census/names.h"
#include "check.h"

static const struct {
    const char *given, *runs, *word;
    bool script;
    const char *name;
} CASES[] = {
    {"/usr/bin/make", "/usr/bin/make", "make", false, "/usr/bin/make"},
    /* A symbolic link: by tracepoints it is told by this name as well. */
    {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/redis-server", false,
     "/usr/bin/redis-server"},
    /* Where what exec was given cannot be read. */
    {"", "/usr/bin/redis-check-rdb", "/usr/bin/redis-server", false, "/usr/bin/redis-server"},
    {"/bin/busybox", "/bin/busybox", "ls", false, "ls"},
    {"/proc/self/exe", "/bin/busybox", "ls", false, "ls"},
    {"/proc/self/exe", "/opt/app/app", "/opt/app/app", true, "/opt/app/app"},
    {"/usr/bin/pip", "/usr/bin/python3.11", "/usr/bin/python3", true, "/usr/bin/pip"},
    {"/bin/bash", "/usr/bin/bash", "-bash", false, "/bin/bash"},
    {"/usr/sbin/nginx", "/usr/sbin/nginx", "nginx", false, "/usr/sbin/nginx"},
    {"/bin/sleep", "/bin/sleep", "", false, "/bin/sleep"},
    {"", "", "kept", false, "kept"},
    {"", "", "", false, ""},
};

static void check_cut(void) {
    char name[16];
    name_copy(name, sizeof name, "/bin/ls", 7);
    CHECK(strcmp(name, "/bin/ls") == 0, "short ones are whole");
    const char *path = "/a/long/folder/redis-server";
    name_copy(name, sizeof name, path, strlen(path));
    CHECK(strcmp(name, "…redis-server") == 0, "not %s", name);
    /* The cut would be within the two bytes of é. */
    path = "/somewhere/é23456789.12";
    name_copy(name, sizeof name, path, strlen(path));
    CHECK(strcmp(name, "…23456789.12") == 0, "not %s", name);
}

/* A real process by the name that its arguments give it. */
static void check_process(void) {
    int gate[2];
    char name[256];
    CHECK(pipe(gate) == 0, "a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        dup2(gate[0], 0);
        close(gate[1]);
        execl("/bin/cat", "another-name: of mine", (char *)NULL);
        _exit(127);
    }
    close(gate[0]);
    for (int i = 0; i < 1000; i++) {
        name_of_process(pid, name, sizeof name);
        if (strcmp(name, "another-name") == 0) {
            break;
        }
        usleep(10000);
    }
    close(gate[1]);
    waitpid(pid, NULL, 0);
    CHECK(strcmp(name, "another-name") == 0, "not %s", name);
    name_of_process(pid, name, sizeof name);
    CHECK(name[0] == '\0', "it has gone, %s", name);
}

int main(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *name = name_choose(CASES[i].given, CASES[i].runs, CASES[i].word, CASES[i].script);
        CHECK(strcmp(name, CASES[i].name) == 0, "%s: %s", CASES[i].name, name);
    }
    CHECK(name_says_nothing("/dev/fd/7") && !name_says_nothing("/bin/ls"), "a descriptor");
    check_cut();
    check_process();
    return 0;
}
