#include "report/explain.h"

#include <math.h>
#include <stdlib.h>

const char *report_axis_name(uint32_t axis)
{
    const strategy_parameter *p = &strategy_parameters[axis];

    return p->noun ? p->noun : p->name;
}

/* ---- trends --------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const report_trend_point *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

/* Rows come in the order of the ranking of equals. */
static void take_better(const report_study *s, const store_row *r, const store_row **best)
{
    if (!*best || report_rank_value(s, r) < report_rank_value(s, *best))
        *best = r;
}

static report_trend trend_of(const report_study *s, uint32_t axis, dse_arena *a)
{
    report_trend t = {.axis = axis};
    size_t cap = 0;

    for (size_t i = 0; i < s->n; i++) {
        const store_row *r = &s->row[i];
        uint32_t value = strategy_get(&r->strategy, axis);
        size_t at = 0;

        if (!r->done || isnan(report_rank_value(s, r)))
            continue;
        while (at < t.n && t.point[at].value != value)
            at++;
        if (at == t.n) {
            DSE_ARENA_GROW(a, t.point, cap, t.n + 1);
            t.point[t.n++] = (report_trend_point){.value = value};
        }
        take_better(s, r, &t.point[at].best);
        if (store_fits(r->metrics.peak_memory, s->hbm_bytes))
            take_better(s, r, &t.point[at].best_fits);
    }
    if (t.n)
        qsort(t.point, t.n, sizeof *t.point, compare_points);
    return t;
}

/* ---- the smallest change -------------------------------------------------------------------- */

/* Number of axes on which two points differ: moving a factor from dp to tp changes two. */
static unsigned changes_between(const store_row *a, const store_row *b)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        n += strategy_get(&a->strategy, i) != strategy_get(&b->strategy, i);
    return n;
}

static void find_nearest(const report_study *s, report_explanation *e)
{
    for (size_t i = 0; e->unlimited && i < s->n_ranked; i++) {
        unsigned n = changes_between(e->unlimited, s->ranked[i]);

        if (n && (!e->nearest || n < e->n_changes)) {
            e->nearest = s->ranked[i];
            e->n_changes = n;
        }
    }
}

void report_explain(const report_study *s, dse_arena *a, report_explanation *out)
{
    *out = (report_explanation){.winner = s->n_ranked ? s->ranked[0] : NULL,
                                .runner_up = s->n_ranked > 1 ? s->ranked[1] : NULL};
    if (s->unlimited_best != out->winner)
        out->unlimited = s->unlimited_best;
    find_nearest(s, out);
    for (uint32_t axis = 0; axis < STRATEGY_N; axis++) {
        report_trend *t = &out->trend[out->n_trends];

        *t = trend_of(s, axis, a);
        out->n_trends += t->n > 1;
    }
}
