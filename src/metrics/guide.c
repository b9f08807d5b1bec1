#include "metrics/guide.h"

#include "base/names.h"
#include "metrics/compat_kineto.h"
#include "metrics/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks --------------------------------------------------------------------------------- */

static const char *label_of(const trace_rank *r, dse_arena *a)
{
    const char *name = metric_file_name(r);

    if (r->kind == TRACE_KINETO && dse_ends(name, "trace.json"))
        return dse_arena_strndup(a, name, strlen(name) - strlen(".json"));
    return dse_arena_printf(a, "rank%" PRIu32 "_trace", r->rank);
}

guide_ranks guide_ranks_of(const metric_context *x)
{
    guide_ranks all = {x->n_views, DSE_ARENA_NEW(x->arena, guide_rank, x->n_views)};

    for (uint32_t i = 0; i < x->n_views; i++)
        all.rank[i] = (guide_rank){&x->view[i], x->view[i].rank, label_of(x->view[i].rank, x->arena)};
    return all;
}

static int by_label(const void *a, const void *b)
{
    const guide_rank *x = a, *y = b;

    return strcmp(x->label, y->label);
}

guide_ranks guide_ranks_compat(const metric_context *x)
{
    guide_ranks all = guide_ranks_of(x);

    qsort(all.rank, all.n, sizeof *all.rank, by_label);
    return all;
}

/* ---- events -------------------------------------------------------------------------------- */

double guide_recording_us(const trace_rank *r)
{
    return r->any_last_ps > r->any_first_ps ? guide_us(r->any_last_ps - r->any_first_ps) : 0;
}

void guide_union_of(const trace_rank *r, const metric_events *list, const metric_words *words, dse_arena *a,
                    metric_spans *out, uint32_t *n)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, list->n);

    *n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const trace_event *e = &r->event[list->event[i]];

        if (words->is[e->word] && e->dur_ps > 0)
            span[(*n)++] = (metric_span){metric_start(e), metric_end(e)};
    }
    *out = metric_spans_merge(span, *n);
}

metric_spans guide_steps_of(const metric_view *v, bool trim, dse_arena *a, uint32_t *n)
{
    metric_steps kept = metric_steps_kept(v, trim);
    metric_span *span = DSE_ARENA_NEW(a, metric_span, kept.n);

    *n = kept.n;
    for (uint32_t i = 0; i < kept.n; i++)
        span[i] = kept.step[i].span;
    return metric_spans_merge_any(span, kept.n);
}

/* ---- figures ------------------------------------------------------------------------------- */

static double at(const double *first, size_t i, size_t stride)
{
    return *(const double *)(const void *)((const char *)first + i * stride);
}

double guide_mean(const double *first, size_t n, size_t stride)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += at(first, i, stride);
    return n ? sum / (double)n : 0;
}

metric_value *guide_put_percent(metric_value *to, const char *key, double part, double whole, const char *why)
{
    return metric_put_ratio(to, key, 100 * part, whole, why);
}

metric_value *guide_put_round(metric_value *to, const char *key, double v)
{
    return metric_put_number(to, key, metric_round(v, 2));
}

metric_value *guide_put_mean(metric_value *to, const char *key, const double *first, size_t n, size_t stride,
                             const char *why)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(at(first, i, stride))) {
            sum += at(first, i, stride);
            known++;
        }
    return known ? metric_put_number(to, key, sum / (double)known) : metric_put_absent(to, key, why);
}
