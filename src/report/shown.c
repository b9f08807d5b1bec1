#include "report/shown.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What it takes to fit, or not, and then the value. */
enum { FITS, TOO_LARGE, UNKNOWN };

struct report_shown_point {
    int class;
    double value; /* smaller is better */
    uint64_t place, time, memory;
    size_t study;
};

static bool is_worse(const report_shown_point *x, const report_shown_point *y)
{
    if (x->class != y->class)
        return x->class > y->class;
    if (x->value < y->value || x->value > y->value)
        return x->value > y->value;
    return x->place > y->place;
}

static void swap(report_shown_point *x, report_shown_point *y)
{
    const report_shown_point z = *x;

    *x = *y;
    *y = z;
}

static void sink(report_shown_point *heap, size_t n)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
            child++;
        if (!is_worse(&heap[child], &heap[i]))
            return;
        swap(&heap[child], &heap[i]);
    }
}

static void add_best(report_shown *s, const report_shown_point *p)
{
    size_t i = s->n_best;

    if (s->n_best == s->most) {
        if (!s->most || is_worse(p, &s->best[0]))
            return;
        s->best[0] = *p;
        sink(s->best, s->n_best);
        return;
    }
    DSE_GROW(s->best, s->cap_best, s->n_best + 1);
    s->best[s->n_best++] = *p;
    for (; i && is_worse(&s->best[i], &s->best[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&s->best[i], &s->best[(i - 1) / 2]);
}

/* Of points with the same time and memory the first is on it. */
static void add_front(report_shown *s, const report_shown_point *p)
{
    size_t at = 0, end = s->n_front, beaten;

    if (p->time == STORE_ABSENT || p->memory == STORE_ABSENT)
        return;
    while (at < end) { /* the first with a larger time */
        const size_t middle = at + (end - at) / 2;

        if (s->front[middle].time <= p->time)
            at = middle + 1;
        else
            end = middle;
    }
    if (at && s->front[at - 1].memory <= p->memory)
        return;
    at -= at && s->front[at - 1].time == p->time;
    for (beaten = at; beaten < s->n_front && s->front[beaten].memory >= p->memory;)
        beaten++;
    DSE_GROW(s->front, s->cap_front, s->n_front + 1);
    memmove(&s->front[at + 1], &s->front[beaten], (s->n_front - beaten) * sizeof *s->front);
    s->front[at] = *p;
    s->n_front = s->n_front - (beaten - at) + 1;
}

static void add_of_study(report_shown *s, const report_shown_point *p)
{
    report_shown_point *last = s->n_studies ? &s->of_study[s->n_studies - 1] : NULL;

    if (!last || last->study != p->study) {
        DSE_GROW(s->of_study, s->cap_studies, s->n_studies + 1);
        s->of_study[s->n_studies++] = *p;
    } else if (is_worse(last, p)) {
        *last = *p;
    }
}

void report_shown_add(report_shown *s, const report_study *study, size_t index, const store_row *r,
                      unsigned is)
{
    const double value = report_rank_value(study, r);
    const report_shown_point p = {.class = is & REPORT_RANKED ? FITS
                                           : isnan(value)     ? UNKNOWN
                                                              : TOO_LARGE,
                                  .value = isnan(value) ? 0 : value,
                                  .place = s->n_places++,
                                  .time = r->metrics.wall_time,
                                  .memory = r->metrics.peak_memory,
                                  .study = index};

    if (!r->done || (s->steps_alone && (p.class != FITS || !store_has_step(&r->metrics))))
        return;
    add_best(s, &p);
    if (s->steps_alone)
        return;
    add_front(s, &p);
    add_of_study(s, &p);
}

static void take(report_shown *s, const report_shown_point *p, size_t n)
{
    DSE_GROW(s->place, s->cap, s->n + n);
    for (size_t i = 0; i < n; i++)
        s->place[s->n++] = p[i].place;
}

void report_shown_end(report_shown *s)
{
    size_t kept = 0;

    take(s, s->best, s->n_best);
    take(s, s->front, s->n_front);
    take(s, s->of_study, s->n_studies);
    if (s->n)
        qsort(s->place, s->n, sizeof *s->place, dse_by_u64);
    for (size_t i = 0; i < s->n; i++)
        if (!kept || s->place[i] != s->place[kept - 1])
            s->place[kept++] = s->place[i];
    s->n = kept;
}

bool report_shown_has(const report_shown *s, uint64_t place, size_t *at)
{
    if (*at == s->n || s->place[*at] != place)
        return false;
    ++*at;
    return true;
}

void report_shown_free(report_shown *s)
{
    dse_free(s->best);
    dse_free(s->front);
    dse_free(s->of_study);
    dse_free(s->place);
    *s = (report_shown){0};
}
