/* Hockney's alpha and beta of all-reduces (hockney.h says what is fitted): operations of an XLA trace's
 * devices, kernels of other traces. */
#include "metrics/comm_calls.h"
#include "metrics/hockney.h"
#include "metrics/metric.h"
#include "metrics/tpu_run.h"
#include "metrics/tpu_upstream.h"

#include <math.h>

static double inverse(double beta) { return beta > 0 ? 1 / beta : (double)NAN; }

/* ---- definition ---------------------------------------------------------------------------- */

static void put_line(metric_value *to, const hockney_line *l)
{
    metric_put_number(to, "alpha_s", l->alpha);
    metric_put_number_or(to, "alpha_standard_error_s", l->alpha_error, "no degree of freedom");
    metric_put_number(to, "beta_s_per_byte", l->beta);
    metric_put_number_or(to, "beta_standard_error_s_per_byte", l->beta_error, "no degree of freedom");
    metric_put_number_or(to, "inverse_beta_Bps", inverse(l->beta), "the slope is not positive");
    metric_put_number_or(to, "r2", l->r2, "all times are the same");
}

static void put_fit(metric_value *to, const hockney_fit *f)
{
    metric_put_integer(to, "group_size", f->n);
    put_line(to, &f->ordinary);
    metric_put_count(to, "samples", f->samples);
    metric_put_count(to, "distinct_sizes", f->sizes);
    if (f->has_robust)
        put_line(metric_put_object(to, "robust"), &f->robust);
    else
        metric_put_absent(to, "robust", "the robust fit did not converge");
}

/* A fit for each group size that has enough samples, under "fits"; *best: of the size with the most. */
static dse_status put_fits(const hockney_sample *s, size_t count, metric_value *fits, hockney_fit *best,
                           dse_error *err)
{
    dse_status st = DSE_OK;
    size_t n;

    for (size_t i = 0; st == DSE_OK && i < count; i += n) {
        hockney_fit f;

        for (n = 1; i + n < count && s[i + n].n == s[i].n; n++)
            ;
        if (n < HOCKNEY_SAMPLES || hockney_sizes(s + i, n) < HOCKNEY_SIZES)
            continue;
        st = hockney_fit_samples(s + i, n, &f, err);
        if (st != DSE_OK)
            break;
        put_fit(metric_put_object(fits, NULL), &f);
        if (f.samples > best->samples)
            *best = f;
    }
    return st;
}

typedef enum { ALPHA, BETA, INVERSE } coefficient;

static double value_of(const hockney_line *l, coefficient c)
{
    return c == ALPHA ? l->alpha : c == BETA ? l->beta : inverse(l->beta);
}

/* Of the inverse to first order: d(1/b) = db / b^2. */
static double error_of(const hockney_line *l, coefficient c)
{
    return c == ALPHA ? l->alpha_error : c == BETA ? l->beta_error : l->beta_error / (l->beta * l->beta);
}

static dse_status put_best(const metric *row, const hockney_fit *f, metric_value *fits, metric_value *out,
                           dse_error *err)
{
    coefficient c = *(const coefficient *)row->rule;
    double v = value_of(&f->ordinary, c);

    if (!isfinite(v))
        return metric_absent(err, "the slope of the fit is %g s/byte, not positive", f->ordinary.beta);
    metric_put_number(out, row->name, v);
    metric_put_number_or(out, "standard_error", error_of(&f->ordinary, c), "no degree of freedom");
    if (f->has_robust)
        metric_put_number_or(out, "robust_value", value_of(&f->robust, c), "the slope is not positive");
    if (f->ordinary.alpha < 0)
        metric_put_text(out, "warning",
                        "the fitted alpha is negative: the model does not hold for these sizes");
    put_fit(out, f);
    if (fits->first != fits->last)
        metric_take(metric_put_list(out, "fits"), fits);
    return DSE_OK;
}

/* The all-reduces of known size and time in groups of two members or more, sorted; of GPUs, kernels. */
static dse_status samples_of(const metric_context *x, hockney_sample **out, size_t *count, dse_error *err)
{
    bool devices = x->record->rank[0].kind == TRACE_XLA;
    size_t most = 0, all = 0;
    const comm_calls *c;
    dse_status st;

    if (devices && !tpu_run_of(x).n)
        return metric_absent(err, "the trace has no device events");
    if ((st = comm_calls_of(x, &c, err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < x->n_views; i++)
        most += c[i].n;
    *count = 0;
    *out = DSE_ARENA_NEW(x->arena, hockney_sample, most);
    for (uint32_t i = 0; i < x->n_views; i++)
        for (uint32_t k = 0; k < c[i].n; k++) {
            const bool kernels = devices || x->view[i].comm_layer == METRIC_LAYER_KERNEL;
            const comm_call *v = &c[i].call[k];

            if (v->type != METRIC_ALL_REDUCE || !kernels)
                continue;
            all++;
            if (v->bytes > 0 && v->seconds > 0 && v->n > 1)
                (*out)[(*count)++] = (hockney_sample){v->bytes, v->seconds, v->n};
        }
    if (all && !*count && !devices)
        return metric_absent(err,
                             "none of the %zu all-reduces has a size, a time and a group of known size; NCCL "
                             "kernels do, recorded with PyTorch 2.2 or newer",
                             all);
    hockney_sort(*out, *count);
    return DSE_OK;
}

static dse_status hockney(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *fits = metric_object_new(out->arena);
    hockney_fit best = {0};
    hockney_sample *s;
    size_t count;
    dse_status st = samples_of(x, &s, &count, err);

    if (st == DSE_OK)
        st = put_fits(s, count, fits, &best, err);
    if (st == DSE_OK && !count)
        return metric_absent(err, "the trace has no all-reduce between members whose number is known");
    if (st == DSE_OK && !best.samples)
        return metric_absent(
            err,
            "the trace has %zu all-reduce%s of %zu size%s; a fit needs %d in groups of one size, of %d sizes",
            count, count == 1 ? "" : "s", hockney_sizes(s, count), hockney_sizes(s, count) == 1 ? "" : "s",
            HOCKNEY_SAMPLES, HOCKNEY_SIZES);
    return st == DSE_OK ? put_best(x->row, &best, fits, out, err) : st;
}

/* ---- upstream ------------------------------------------------------------------------------ */

/* Ordinary least squares over the valid all-reduces of the table, all taken to have --n_chips members. */
static dse_status upstream(const metric_context *x, metric_value *out, dse_error *err)
{
    tpu_upstream u;
    hockney_fit f;
    uint32_t n;
    dse_status st = tpu_upstream_chips(x, &n, err);

    if (st == DSE_OK && n < 2)
        return metric_absent(err, "it needs --n_chips of 2 or more");
    if (st == DSE_OK)
        st = tpu_upstream_init(&x->record->rank[0], x->arena, &u, err);
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < u.n_all_reduces; i++)
        u.all_reduce[i].n = n;
    hockney_sort(u.all_reduce, u.n_all_reduces);
    if (u.n_all_reduces < HOCKNEY_SAMPLES || hockney_sizes(u.all_reduce, u.n_all_reduces) < HOCKNEY_SIZES) {
        metric_put_absent(out, x->row->name,
                          u.n_all_reduces < HOCKNEY_SAMPLES
                              ? "Not enough AllReduce samples to fit (need >= 5)."
                              : "AllReduce message size is constant; alpha/beta are not identifiable.");
        return DSE_OK;
    }
    st = hockney_fit_samples(u.all_reduce, u.n_all_reduces, &f, err);
    if (st == DSE_OK)
        metric_put_number_or(out, x->row->name, value_of(&f.ordinary, *(const coefficient *)x->row->rule),
                             "the slope of the fit is not positive");
    return st;
}

#define ROW(id, of_unit, better, which, text)                                                                \
    METRIC_ROW(id, "tpu", of_unit, METRIC_ON(TRACE_XLA) | METRIC_ON_GPU, 0, text),                           \
        .compute = hockney, .compat = upstream, .compat_kinds = TPU_ON_CHROME, .headline = (id),             \
        METRIC_ENTRY(id, of_unit, better, METRIC_LAG_TOLERANCE), METRIC_RULE(coefficient, which)

static const metric rows[] = {
    {ROW("hockney_alpha_s", "s", METRIC_LOWER, ALPHA, "latency of a step of an all-reduce, fitted")},
    {ROW("hockney_beta_s_per_byte", "s/byte", METRIC_LOWER, BETA, "time of a byte in an all-reduce, fitted")},
    {ROW("hockney_inverse_beta_Bps", "bytes/s", METRIC_HIGHER, INVERSE,
         "bandwidth of an all-reduce, fitted")},
};

METRIC_FAMILY(tpu_hockney);
