#include "exec/guard.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Written whole: it is shorter than PIPE_BUF. */
typedef struct {
    uint32_t slot;
    pid_t group;
} message;

static bool receive(int fd, message *m)
{
    ssize_t n;

    do
        n = read(fd, m, sizeof *m);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m;
}

/* In the guard. Its own session: what a terminal sends to everybody is not for it. */
static _Noreturn void watch(int fd, pid_t *groups, uint32_t n_slots)
{
    message m;

    setsid();
    while (receive(fd, &m))
        if (m.slot < n_slots)
            groups[m.slot] = m.group;
    for (uint32_t i = 0; i < n_slots; i++)
        if (groups[i] > 0)
            kill(-groups[i], SIGKILL);
    _exit(0);
}

dse_status exec_guard_start(uint32_t n_slots, exec_guard *out, dse_error *err)
{
    pid_t *groups = dse_calloc(n_slots, sizeof *groups), process;
    dse_status st = DSE_OK;
    int ends[2];

    if (pipe(ends) != 0) {
        st = dse_fail_errno(err, DSE_E_CHILD, "cannot make a pipe");
        dse_free(groups);
        return st;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    process = fork();
    if (process == 0) {
        close(ends[1]);
        watch(ends[0], groups, n_slots);
    }
    if (process > 0)
        *out = (exec_guard){process, ends[1]};
    else
        st = dse_fail_errno(err, DSE_E_CHILD, "cannot start a process");
    close(ends[0]);
    if (process < 0)
        close(ends[1]);
    dse_free(groups);
    return st;
}

void exec_guard_set(const exec_guard *g, uint32_t slot, pid_t group)
{
    message m = {slot, group};

    while (write(g->pipe, &m, sizeof m) < 0 && errno == EINTR)
        ;
}

void exec_guard_stop(exec_guard *g)
{
    close(g->pipe);
    while (waitpid(g->process, NULL, 0) < 0 && errno == EINTR)
        ;
}
