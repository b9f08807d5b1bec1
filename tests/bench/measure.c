#define _DEFAULT_SOURCE /* wait4, MAP_ANON */

#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_S 0.05
#define MAX_MB       12000 /* of one process: rather stop it than take the machine down */

double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double wall_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- while it runs ------------------------------------------------------------------------- */

/* The most that a process was ever resident with, MB; 0: it is gone. */
static double peak_of(long pid)
{
    char path[64], line[256];
    double kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    if (!(f = fopen(path, "r")))
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1)
            break;
    fclose(f);
    return kib * 1.024e-3;
}

static void look_at(pid_t pid, measurement *out)
{
    char path[64];
    double own = peak_of(pid);
    long child;
    FILE *f;

    if (own > out->own_mb)
        out->own_mb = own;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    if (!(f = fopen(path, "r")))
        return;
    while (fscanf(f, "%ld", &child) == 1) {
        double mb = peak_of(child);

        out->child_mb = mb > out->child_mb ? mb : out->child_mb;
    }
    fclose(f);
}

/* Why it is not to go on, or NULL. */
static const char *reason_to_stop(double seconds, double limit, const measurement *m)
{
    if (m->own_mb > MAX_MB || m->child_mb > MAX_MB)
        return "too much memory";
    return seconds > limit ? "too long" : NULL;
}

/* Until the process has ended; the caller has blocked SIGCHLD. A group of its own is ended as a whole. */
static void await(pid_t pid, double limit, measurement *out)
{
    const struct timespec step = {0, (long)(LOOK_EVERY_S * 1e9)};
    double start = wall_seconds();
    const char *stopped = NULL;
    struct rusage usage;
    sigset_t set;
    int status;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (wait4(pid, &status, WNOHANG, &usage) == 0) {
        look_at(pid, out);
        if (!stopped && (stopped = reason_to_stop(wall_seconds() - start, limit, out)) != NULL)
            kill(-pid, SIGKILL);
        sigtimedwait(&set, NULL, &step);
    }
    out->wall = wall_seconds() - start;
    out->cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    out->peak_mb = (double)usage.ru_maxrss * 1.024e-3;
    out->done = !stopped && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (stopped)
        snprintf(out->why, sizeof out->why, "%s: stopped after %.0f s with %.0f MB", stopped, out->wall,
                 out->peak_mb);
    else if (WIFSIGNALED(status))
        snprintf(out->why, sizeof out->why, "signal %d", WTERMSIG(status));
    else if (!out->done)
        snprintf(out->why, sizeof out->why, "exit code %d", WEXITSTATUS(status));
}

/* ---- starting ------------------------------------------------------------------------------ */

static pid_t start_process(sigset_t *old)
{
    sigset_t set;
    pid_t pid;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, old);
    fflush(stdout);
    pid = fork();
    if (pid)
        return pid;
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, old, NULL);
    return 0;
}

static void finish_process(pid_t pid, double limit, const sigset_t *old, measurement *out)
{
    if (pid > 0) {
        setpgid(pid, pid); /* whoever of the two comes first */
        await(pid, limit, out);
    } else {
        snprintf(out->why, sizeof out->why, "cannot be started: %s", strerror(errno));
    }
    sigprocmask(SIG_SETMASK, old, NULL);
}

static void redirect(int fd, const char *path, int flags)
{
    int to = open(path ? path : "/dev/null", flags, 0666);

    if (to < 0 || dup2(to, fd) < 0)
        _exit(126);
}

void measure_program(const measured_program *p, measurement *out)
{
    sigset_t old;
    pid_t pid;

    memset(out, 0, sizeof *out);
    pid = start_process(&old);
    if (pid == 0) {
        redirect(0, p->input, O_RDONLY);
        redirect(1, p->output, O_WRONLY | O_CREAT | O_TRUNC);
        redirect(2, p->messages, O_WRONLY | O_CREAT | O_TRUNC);
        if (!p->folder || chdir(p->folder) == 0)
            execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
        _exit(127);
    }
    finish_process(pid, p->limit, &old, out);
}

void measure_fastest(const measured_program *p, int times, measurement *out)
{
    measure_program(p, out);
    for (int i = 1; out->done && i < times && out->wall < 1; i++) {
        measurement again;

        measure_program(p, &again);
        if (again.done && again.wall < out->wall)
            *out = again;
    }
}

void measure_function(measured_function fn, const void *arg, double limit, measurement *out)
{
    double *shared = mmap(NULL, sizeof out->result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    sigset_t old;
    pid_t pid;

    memset(out, 0, sizeof *out);
    if (shared == MAP_FAILED) {
        snprintf(out->why, sizeof out->why, "no memory");
        return;
    }
    pid = start_process(&old);
    if (pid == 0) {
        bool done = fn(arg, shared);

        fflush(stdout);
        _exit(done ? 0 : 1);
    }
    finish_process(pid, limit, &old, out);
    memcpy(out->result, shared, sizeof out->result);
    munmap(shared, sizeof out->result);
}
