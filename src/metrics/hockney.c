#include "metrics/hockney.h"

#include "base/alloc.h"
#include "base/gsl.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    const hockney_sample *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

void hockney_sort(hockney_sample *s, size_t count)
{
    if (count)
        qsort(s, count, sizeof *s, by_size);
}

size_t hockney_sizes(const hockney_sample *s, size_t count)
{
    size_t sizes = 0;

    for (size_t i = 0; i < count; i++)
        sizes += !i || s[i].bytes != s[i - 1].bytes;
    return sizes;
}

/* Both coordinates are in units of their largest value, because GSL's tolerances are absolute: sizes are 1e6,
 * times 1e-5. */
typedef struct {
    size_t n;
    double *x, *y;
    double x_unit, y_unit;
} points;

static void points_init(const hockney_sample *s, size_t n, dse_arena *a, points *p)
{
    *p = (points){n, DSE_ARENA_NEW(a, double, n), DSE_ARENA_NEW(a, double, n), 0, 0};
    for (size_t i = 0; i < n; i++) {
        p->x[i] = s[i].bytes / s[i].n;
        p->y[i] = s[i].seconds / (2.0 * (s[i].n - 1));
        p->x_unit = fmax(p->x_unit, p->x[i]);
        p->y_unit = fmax(p->y_unit, p->y[i]);
    }
    for (size_t i = 0; i < n; i++) {
        p->x[i] /= p->x_unit;
        p->y[i] /= p->y_unit;
    }
}

/* A line in the points' units, with the variances of its coefficients, in those of the samples. */
static hockney_line scaled(const points *p, double c0, double c1, double var0, double var1, double r2)
{
    double slope = p->y_unit / p->x_unit;

    return (hockney_line){c0 * p->y_unit, c1 * slope, sqrt(var0) * p->y_unit, sqrt(var1) * slope, r2};
}

static double spread(const points *p) { return gsl_stats_tss(p->y, 1, p->n); }

static bool fit_ordinary(const points *p, hockney_line *out)
{
    double c0, c1, cov00, cov01, cov11, residual;

    if (gsl_fit_linear(p->x, 1, p->y, 1, p->n, &c0, &c1, &cov00, &cov01, &cov11, &residual))
        return false;
    *out = scaled(p, c0, c1, cov00, cov11, spread(p) > 0 ? 1 - residual / spread(p) : NAN);
    return isfinite(c0) && isfinite(c1);
}

/* False if it did not converge. */
static bool fit_robust(const points *p, hockney_line *out)
{
    gsl_multifit_robust_workspace *w = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, p->n, 2);
    gsl_matrix *x = gsl_matrix_alloc(p->n, 2), *cov = gsl_matrix_alloc(2, 2);
    gsl_vector *c = gsl_vector_alloc(2);
    gsl_vector_const_view y = gsl_vector_const_view_array(p->y, p->n);
    bool good;

    if (!w || !x || !cov || !c)
        dse_out_of_memory();
    for (size_t i = 0; i < p->n; i++) {
        gsl_matrix_set(x, i, 0, 1);
        gsl_matrix_set(x, i, 1, p->x[i]);
    }
    good = gsl_multifit_robust(x, &y.vector, c, cov, w) == GSL_SUCCESS;
    if (good) {
        gsl_multifit_robust_stats s = gsl_multifit_robust_statistics(w);
        *out = scaled(p, gsl_vector_get(c, 0), gsl_vector_get(c, 1), gsl_matrix_get(cov, 0, 0),
                      gsl_matrix_get(cov, 1, 1), spread(p) > 0 ? s.Rsq : NAN);
        good = isfinite(out->alpha) && isfinite(out->beta);
    }
    gsl_vector_free(c);
    gsl_matrix_free(cov);
    gsl_matrix_free(x);
    gsl_multifit_robust_free(w);
    return good;
}

dse_status hockney_fit_samples(const hockney_sample *s, size_t count, hockney_fit *out, dse_error *err)
{
    hockney_fit fit = {.n = s[0].n, .samples = count, .sizes = hockney_sizes(s, count)};
    gsl_error_handler_t *old = gsl_set_error_handler(dse_gsl_error);
    dse_status st = DSE_OK;
    dse_arena arena;
    points p;

    dse_arena_init(&arena);
    points_init(s, count, &arena, &p);
    if (fit_ordinary(&p, &fit.ordinary))
        fit.has_robust = fit_robust(&p, &fit.robust);
    else
        st = dse_fail(err, DSE_E_RANGE, "least squares over %zu all-reduces failed", count);
    dse_arena_free(&arena);
    gsl_set_error_handler(old);
    if (st == DSE_OK)
        *out = fit;
    return st;
}
