/* fork copies one thread, but all locks: one that another thread
 * holds stays locked for ever. */
/* Build: gcc -O2 -pthread -o fork_in_threads fork_in_threads.c */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;

static void *holder(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&held);
    usleep(100000); /* a fork happens now */
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int tasks(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        count += entry->d_name[0] != '.';
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

/* >>> shown */
static int child_tries_the_lock(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1; /* without a limit it would wait for ever */
    return pthread_mutex_timedlock(&lock, &until);
}

static int error_of_child(const char *name) {
    pthread_t thread;
    pthread_create(&thread, NULL, holder, NULL);
    pthread_barrier_wait(&held); /* the other thread has the lock */
    printf("%s_tasks_in_parent = %d\n", name, tasks());
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        printf("%s_tasks_in_child = %d\n", name, tasks());
        fflush(stdout);
        _exit(child_tries_the_lock());
    }
    /* <<< shown */
    int status = 0;
    waitpid(pid, &status, 0);
    pthread_join(thread, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
    pthread_barrier_init(&held, NULL, 2);
    printf("ETIMEDOUT = %d\n", ETIMEDOUT);
    printf("plain_error = %d\n", error_of_child("plain"));
    /* The cure: whoever forks takes the lock first, so that the child's copy
     * belongs to the thread that it has. */
    pthread_atfork(before_fork, after_fork, after_fork);
    printf("atfork_error = %d\n", error_of_child("atfork"));
    return 0;
}
