#include "compare/linear.h"

#include "base/alloc.h"
#include "base/gsl.h"

#include <gsl/gsl_multifit.h>
#include <math.h>

typedef struct {
    const double *x, *y;
    size_t n, k;
    double unit
        [CMP_LINEAR_MOST]; /* the largest of a column relative to y, by which it is divided; 0: it is empty */
} problem;

static double relative(const problem *p, size_t i, size_t j) { return p->x[i * p->k + j] / p->y[i]; }

static size_t count(unsigned subset)
{
    size_t n = 0;

    for (; subset; subset >>= 1)
        n += subset & 1;
    return n;
}

/* False if a coefficient is negative, or GSL fails. *sum: of squared relative errors. */
static bool solve(const problem *p, unsigned subset, double c[CMP_LINEAR_MOST], double *sum)
{
    const size_t k = count(subset);
    gsl_matrix *x = gsl_matrix_alloc(p->n, k), *covariance = gsl_matrix_alloc(k, k);
    gsl_vector *y = gsl_vector_alloc(p->n), *found = gsl_vector_alloc(k);
    gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(p->n, k);
    bool good;
    size_t at = 0;

    if (!x || !covariance || !y || !found || !w)
        dse_out_of_memory();
    gsl_vector_set_all(y, 1);
    for (size_t j = 0; j < p->k; j++)
        if (subset >> j & 1) {
            for (size_t i = 0; i < p->n; i++)
                gsl_matrix_set(x, i, at, relative(p, i, j) / p->unit[j]);
            at++;
        }
    good = gsl_multifit_linear(x, y, found, covariance, sum, w) == GSL_SUCCESS;
    for (size_t j = 0, i = 0; j < p->k; j++) {
        c[j] = 0;
        if (subset >> j & 1) {
            c[j] = gsl_vector_get(found, i++) / p->unit[j];
            good = good && c[j] >= 0 && isfinite(c[j]);
        }
    }
    gsl_multifit_linear_free(w);
    gsl_vector_free(found);
    gsl_vector_free(y);
    gsl_matrix_free(covariance);
    gsl_matrix_free(x);
    return good;
}

static void put_errors(const problem *p, cmp_linear *out)
{
    out->mean = out->worst = 0;
    for (size_t i = 0; i < p->n; i++) {
        double predicted = 0, error;

        for (size_t j = 0; j < p->k; j++)
            predicted += out->c[j] * p->x[i * p->k + j];
        error = fabs(predicted / p->y[i] - 1);
        out->mean += error / (double)p->n;
        out->worst = fmax(out->worst, error);
    }
}

static unsigned full_columns(problem *p)
{
    unsigned full = 0;

    for (size_t j = 0; j < p->k; j++) {
        for (size_t i = 0; i < p->n; i++)
            p->unit[j] = fmax(p->unit[j], relative(p, i, j));
        full |= p->unit[j] > 0 ? 1u << j : 0;
    }
    return full;
}

dse_status cmp_linear_fit(const double *x, size_t k, const double *y, size_t n, cmp_linear *out,
                          dse_error *err)
{
    problem p = {.x = x, .y = y, .n = n, .k = k};
    const size_t most = n > 1 ? n - 1 : 1;
    double best = INFINITY;
    gsl_error_handler_t *old;
    unsigned full;

    if (!n || !k || k > CMP_LINEAR_MOST || !(full = full_columns(&p)))
        return dse_fail(err, DSE_E_RANGE, "%zu rows and %zu columns give no line", n, k);
    old = gsl_set_error_handler(dse_gsl_error);
    for (unsigned subset = 1; subset < 1u << k; subset++) {
        double c[CMP_LINEAR_MOST] = {0}, sum;

        if ((subset & ~full) || count(subset) > most || !solve(&p, subset, c, &sum) || !(sum < best))
            continue;
        best = sum;
        for (size_t j = 0; j < k; j++)
            out->c[j] = c[j];
    }
    gsl_set_error_handler(old);
    for (size_t j = k; j < CMP_LINEAR_MOST; j++)
        out->c[j] = 0;
    put_errors(&p, out);
    return DSE_OK;
}
