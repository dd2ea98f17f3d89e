/* What a tool that times whole commands is given to time: one launch, waited for, and nothing else. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused) {
    return unused;
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "pthread") == 0) {
        pthread_t thread;
        return pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
    }
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int status = 1;
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}
