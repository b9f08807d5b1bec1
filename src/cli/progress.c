#include "cli/progress.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WORTH_A_WORD 10 /* seconds without an answer */

static double clock_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_init(progress_screen *s, const char *what)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb"));

    *s = (progress_screen){
        .terminal = terminal, .next_seconds = terminal ? 0 : 5, .start = clock_seconds(), .what = what};
}

void progress_begin(void *user, const drv_progress *p)
{
    (void)user;
    fprintf(stderr, "%" PRIu64 " point%s, %" PRIu64 " to simulate\n", p->total, p->total == 1 ? "" : "s",
            p->total - p->cached);
}

report_name progress_best_text(const drv_progress *p)
{
    return report_strategy_text(&p->best, p->best_tokens ? STRATEGY_PROFILE_TRAIN : STRATEGY_PROFILE_STAGE);
}

static void format_left(char *out, size_t size, double seconds)
{
    uint64_t left = (uint64_t)seconds;

    if (left < 60)
        snprintf(out, size, "%" PRIu64 " s", left);
    else if (left < 3600)
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 " min", left / 60, left % 60);
    else
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 " h", left / 3600, left % 3600 / 60);
}

static void format_progress(const drv_progress *p, char *out, size_t size)
{
    uint64_t run = p->done + p->failed, left = p->total - p->cached - p->skipped - run;
    double rate = p->seconds > 0 ? (double)run / p->seconds : 0;
    double waited = p->seconds - p->answered;
    char best[STRATEGY_NAME_MAX + 64] = "", remaining[48] = "", waiting[48] = "", time[32], failed[48] = "";

    if (p->has_best) {
        dse_format_seconds(time, sizeof time, (double)p->best_wall_time * 1e-9);
        snprintf(best, sizeof best, ", best %s with %s", time, progress_best_text(p).text);
    }
    if (rate > 0) {
        format_left(time, sizeof time, (double)left / rate);
        snprintf(remaining, sizeof remaining, ", %s left", time);
    }
    if (waited >= WORTH_A_WORD) {
        format_left(time, sizeof time, waited);
        snprintf(waiting, sizeof waiting, ", no answer for %s", time);
    }
    if (p->failed)
        snprintf(failed, sizeof failed, ", %" PRIu64 " failed", p->failed);
    snprintf(out, size, "%" PRIu64 "/%" PRIu64 " points, %.2f/s%s%s%s%s", p->cached + p->skipped + run,
             p->total, rate, remaining, waiting, failed, best);
}

void progress_show(void *user, const drv_progress *p)
{
    progress_screen *s = user;
    uint64_t count = p->done + p->failed;
    char line[400];

    if (p->seconds < s->next_seconds)
        return;
    if (s->terminal) {
        struct winsize size = {0};

        /* A line that wraps would be cleared in its last row only. */
        format_progress(p, line, sizeof line);
        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_col < sizeof line)
            line[size.ws_col - 1] = '\0';
        fprintf(stderr, "\r\033[2K%s", line);
        fflush(stderr);
        s->drawn = true;
        s->next_seconds = p->seconds + 0.1; /* as often as one can follow */
        return;
    }
    /* Without a terminal a line now and then, ever more rarely; also when nothing has changed for long. */
    if (count == s->last_count && p->seconds - p->answered < WORTH_A_WORD)
        return;
    format_progress(p, line, sizeof line);
    fprintf(stderr, "%s\n", line);
    s->last_count = count;
    s->next_seconds = p->seconds < 60 ? p->seconds + 10 : p->seconds * 7 / 6;
}

void progress_count(void *user, size_t done, size_t n)
{
    progress_screen *s = user;
    double seconds = clock_seconds() - s->start;
    char left[32];

    if (seconds < s->next_seconds || seconds < 1 || !done)
        return;
    format_left(left, sizeof left, seconds / (double)done * (double)(n - done));
    fprintf(stderr, "%s%zu of %zu %s, %s left%s", s->terminal ? "\r\033[2K" : "", done, n, s->what, left,
            s->terminal ? "" : "\n");
    fflush(stderr);
    s->drawn = s->terminal;
    s->next_seconds = seconds + (s->terminal ? 0.1 : 10);
}

void progress_clear(const progress_screen *s)
{
    if (s->drawn)
        fprintf(stderr, "\r\033[2K");
}
