/* no_network COMMAND... -- runs it, and whatever it starts, so that the kernel ends who asks for a socket of any kind but one
 * that stays in this machine's memory (AF_UNIX); a ring by which the kernel would open one is refused. Without a command it tries
 * that on itself: 0, a socket ends a process; 77, this kernel has no such filters. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __NR_io_uring_setup
#define __NR_io_uring_setup 425
#endif

static int forbid(void)
{
    /* The number of the call, then the low half of its first argument. */
    const unsigned low =
        offsetof(struct seccomp_data, args) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38), /* ENOSYS: libuv does without */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int try_it(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (forbid())
            _exit(77);
        if (socket(AF_UNIX, SOCK_STREAM, 0) < 0)
            _exit(1);
        socket(AF_INET, SOCK_STREAM, 0);
        _exit(2);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return 77;
    return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return try_it();
    if (forbid()) {
        perror("no_network");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
