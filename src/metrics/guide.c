#include "metrics/guide.h"

#include "base/names.h"

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

static int by_label(const void *a, const void *b)
{
    const guide_rank *x = a, *y = b;

    return strcmp(x->label, y->label);
}

guide_ranks guide_measure(const metric_context *x, metric_value *out, guide_measure_fn *measure,
                          size_t own_size)
{
    guide_ranks all = {.x = x, .rank = DSE_ARENA_NEW(x->arena, guide_rank, x->n_views)};

    for (uint32_t i = 0; i < x->n_views; i++)
        all.rank[i] = (guide_rank){.view = &x->view[i],
                                   .rank = x->view[i].rank,
                                   .label = label_of(x->view[i].rank, x->arena),
                                   .own = dse_arena_zero(x->arena, 1, own_size),
                                   .out = metric_object_new(out->arena),
                                   .aside = metric_object_new(x->arena)};
    if (x->options->compat)
        qsort(all.rank, x->n_views, sizeof *all.rank, by_label);
    for (uint32_t i = 0; i < x->n_views; i++)
        if (measure(x, &all.rank[i], metric_scratch(x)))
            all.rank[all.n++] = all.rank[i];
        else if (!all.left_out)
            all.left_out = all.rank[i].label;
    return all;
}

void guide_put_ranks(const guide_ranks *ranks, const char *compat_key, metric_value *out)
{
    const bool compat = ranks->x->options->compat;
    metric_value *all;

    if (!compat)
        metric_put_integer(out, "num_ranks", ranks->n);
    all = compat ? metric_put_list(out, compat_key) : metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < ranks->n; i++) {
        const guide_rank *r = &ranks->rank[i];

        if (compat)
            metric_put_text(r->out, "rank", r->label);
        metric_take(compat ? metric_put_object(all, NULL) : metric_put_rank(all, r->rank), r->out);
    }
    if (compat)
        metric_put_integer(out, "num_ranks", ranks->n);
}

/* ---- events -------------------------------------------------------------------------------- */

double guide_recording_us(const trace_rank *r)
{
    return r->any_last_ps > r->any_first_ps ? guide_us(r->any_last_ps - r->any_first_ps) : 0;
}

uint64_t guide_layer_of(const char *name)
{
    static const char word[] = "layers.";
    uint64_t layer;

    for (name = strstr(name, word); name; name = strstr(name + 1, word)) {
        const char *digit = name + sizeof word - 1;

        if (*digit < '0' || *digit > '9')
            continue;
        for (layer = 0; *digit >= '0' && *digit <= '9' && layer < 1000000000; digit++)
            layer = layer * 10 + (uint64_t)(*digit - '0');
        return layer;
    }
    return GUIDE_NO_LAYER;
}

/* ---- figures ------------------------------------------------------------------------------- */

static double figure(const guide_rank *r, const char *key)
{
    const metric_value *v = metric_get(r->aside, key);

    return metric_number(v ? v : metric_get(r->out, key));
}

double *guide_figures(const guide_ranks *ranks, const char *key)
{
    double *v = DSE_ARENA_NEW(ranks->x->arena, double, ranks->n);

    for (uint32_t i = 0; i < ranks->n; i++)
        v[i] = figure(&ranks->rank[i], key);
    return v;
}

/* Their sum, over `n` of them or over 1; NaN: none has the figure. */
static double fold(const guide_ranks *ranks, const char *key, bool mean)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ranks->n; i++) {
        double v = figure(&ranks->rank[i], key);

        sum += isnan(v) ? 0 : v;
        n += isnan(v) ? 0 : 1;
    }
    return n ? sum / (mean ? n : 1) : NAN;
}

double guide_sum(const guide_ranks *ranks, const char *key) { return fold(ranks, key, false); }

double guide_mean(const guide_ranks *ranks, const char *key) { return fold(ranks, key, true); }

void guide_put_mean(const guide_ranks *ranks, const char *key, const char *why, metric_value *out)
{
    double mean = guide_mean(ranks, key);

    metric_put_number_or(out, dse_arena_printf(ranks->x->arena, "avg_%s", key),
                         ranks->x->options->compat ? metric_round(mean, 2) : mean, why);
}

/* Of one class; NaN: no rank has the figure. */
static double fold_class(const guide_ranks *ranks, const char *classes, const char *class,
                         const guide_figure *f)
{
    double sum = 0, least = INFINITY, most = 0;
    bool any = false;

    for (uint32_t i = 0; i < ranks->n; i++) {
        double v =
            metric_number(metric_get(metric_get(metric_get(ranks->rank[i].out, classes), class), f->of));

        any = any || !isnan(v);
        v = isnan(v) ? 0 : v;
        sum += v;
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    return !any ? NAN : f->fold == GUIDE_MEAN ? sum / ranks->n : f->fold == GUIDE_LEAST ? least : most;
}

void guide_put_classes(const guide_ranks *ranks, const char *classes, const char *const *class,
                       size_t n_classes, const guide_figure *figure, size_t n, metric_value *to)
{
    for (size_t c = 0; c < n_classes; c++) {
        metric_value *o = NULL;

        for (size_t i = 0; i < n; i++) {
            const double v = fold_class(ranks, classes, class[c], &figure[i]);

            if (!i && !(v > 0))
                break;
            o = o ? o : metric_put_object(to, class[c]);
            metric_put_number_or(o, figure[i].key, figure[i].digits ? metric_round(v, figure[i].digits) : v,
                                 figure[i].why);
        }
    }
}

metric_value *guide_put_percent(metric_value *to, const char *key, double part, double whole, const char *why)
{
    return metric_put_ratio(to, key, 100 * part, whole, why);
}

void guide_put_share(const metric_context *x, metric_value *to, const char *key, double part, double whole,
                     const char *why)
{
    if (x->options->compat)
        guide_put_round(to, key, guide_percent(part, whole));
    else
        guide_put_percent(to, key, part, whole, why);
}

metric_value *guide_put_sums(metric_value *to, const char *key, const metric_sums *s, bool in_us)
{
    const double us = guide_us(s->sum_ps);
    metric_value *o;

    if (!s->n)
        return NULL;
    o = metric_put_object(to, key);
    metric_put_integer(o, "count", s->n);
    if (in_us)
        metric_put_number(o, "total_time_us", us);
    metric_put_number(o, "total_time_ms", us / 1000);
    metric_put_number(o, "avg_time_us", us / (double)s->n);
    metric_put_us(o, "min_time_us", s->least_ps);
    metric_put_us(o, "max_time_us", s->most_ps);
    return o;
}

metric_value *guide_put_round(metric_value *to, const char *key, double v)
{
    return metric_put_number(to, key, metric_round(v, 2));
}
