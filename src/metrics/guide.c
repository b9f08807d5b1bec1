#include "metrics/guide.h"

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

    if (r->kind == TRACE_KINETO && metric_ends(name, "trace.json"))
        return dse_arena_strndup(a, name, strlen(name) - strlen(".json"));
    return dse_arena_printf(a, "rank%" PRIu32 "_trace", r->rank);
}

dse_status guide_ranks_of(const metric_context *x, guide_ranks *out, dse_error *err)
{
    *out = (guide_ranks){x->n_views, DSE_ARENA_NEW(x->arena, guide_rank, x->n_views)};
    if (!out->rank)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < x->n_views; i++) {
        guide_rank *r = &out->rank[i];

        r->view = &x->view[i];
        r->rank = x->view[i].rank;
        if (!(r->label = label_of(r->rank, x->arena)))
            return dse_fail_nomem(err);
    }
    return DSE_OK;
}

static int by_label(const void *a, const void *b)
{
    const guide_rank *x = a, *y = b;

    return strcmp(x->label, y->label);
}

dse_status guide_ranks_compat(const metric_context *x, guide_ranks *out, dse_error *err)
{
    dse_status st = guide_ranks_of(x, out, err);

    if (st == DSE_OK)
        qsort(out->rank, out->n, sizeof *out->rank, by_label);
    return st;
}

/* ---- events -------------------------------------------------------------------------------- */

double guide_recording_us(const trace_rank *r)
{
    return r->any_last_ps > r->any_first_ps ? guide_us(r->any_last_ps - r->any_first_ps) : 0;
}

bool guide_union_of(const trace_rank *r, const metric_events *list, const metric_words *words, dse_arena *a,
                    metric_spans *out, uint32_t *n)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, list->n);

    *n = 0;
    if (!span)
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        const trace_event *e = &r->event[list->event[i]];

        if (words->is[e->word] && e->dur_ps > 0)
            span[(*n)++] = (metric_span){metric_start(e), metric_end(e)};
    }
    *out = metric_spans_merge(span, *n);
    return true;
}

bool guide_steps_of(const metric_view *v, bool trim, dse_arena *a, uint32_t *n, metric_spans *out)
{
    uint32_t first;
    metric_span *span;

    metric_steps_kept(v, trim, &first, n);
    if (!(span = DSE_ARENA_NEW(a, metric_span, *n)))
        return false;
    for (uint32_t i = 0; i < *n; i++)
        span[i] = v->step[first + i].span;
    *out = metric_spans_merge_any(span, *n);
    return true;
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
