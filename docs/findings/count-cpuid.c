#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int status, count = 0;
    struct user_regs_struct regs;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        ptrace(PTRACE_GETREGS, child, 0, &regs);
        if ((ptrace(PTRACE_PEEKTEXT, child, regs.rip, 0) & 0xffff) == 0xa20f) {
            printf("%3d  leaf 0x%llx.%llx\n", ++count, regs.rax & 0xffffffff, regs.rcx & 0xffffffff);
        }
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
    }
    return argc - argc;
}
