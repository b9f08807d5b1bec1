/* A library to be preloaded (LD_PRELOAD), by which the wall clock of a process goes eleven hours forward when it has run for
 * 0.3 s, and 35 back 0.6 s later, for good: who counts by it gives up at once, or waits for more than a day. Clocks that count
 * without jumps are left alone: they are what timeouts are for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);

static double seconds(void)
{
    struct timespec t;

    real(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double begin;

__attribute__((constructor)) static void start(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    begin = seconds();
}

static time_t jumped(time_t now)
{
    const double run = seconds() - begin;

    return now + 3600 * (run < 0.3 ? 0 : run < 0.9 ? 11 : -24);
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int code;

    if (!real)
        start();
    code = real(id, out);
    if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        out->tv_sec = jumped(out->tv_sec);
    return code;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    *out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}
