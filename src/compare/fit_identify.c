/* What the data identify, by the Jacobian of the residuals at the solution: a column without length is a
 * parameter without effect; a small singular value of the columns, each scaled to length 1, is a combination
 * of parameters that cannot be told from another one, and the parameter that takes most part in it stays at
 * its start. The rest is fitted again. */
#include "compare/fit_parts.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

/* Largest change of a logarithm over a parameter's whole range: no run is measured so well. */
#define NO_EFFECT 1e-4
/* Singular value over the largest: differences over 1e-3 of a run's whole ns are no better. */
#define SINGULAR    1e-3
#define ONE_SIDED   1e-3 /* a difference to one side over that to the other */
#define AS_MUCH     0.9  /* of the largest part in a combination: an equal one; the last of these is taken */
#define WORSE       1.01 /* sum of squares, relative: putting a parameter back has done harm */
#define NEARLY_ZERO 1e-12

typedef struct {
    size_t n, p;
    double *column; /* p columns of n */
    double *length; /* p */
} jacobian;

static double *column_of(const jacobian *j, size_t i) { return j->column + i * j->n; }

/* The coordinate's whole range. */
static double range_of(const cmp_parameter *p)
{
    return fit_coordinate(p, p->max) - fit_coordinate(p, p->min);
}

static double largest(const double *v, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Whether the parameter matters on one side of its value alone, as a rate does up to where another one
 * limits: a fit from that side ends there, and the data say no more than that it is not beyond. After
 * fit_column. */
static bool is_one_sided(const fit *f, const double *residual)
{
    double below = distance(f->low, residual, f->problem->n),
           above = distance(f->high, residual, f->problem->n);

    return !f->low_is_value && !f->high_is_value && fmin(below, above) < ONE_SIDED * fmax(below, above);
}

/* Columns of the wanted; a length of 0 stands for no effect, or none on one side. */
static dse_status jacobian_at(fit *f, const fit_point *x, jacobian *out, dse_error *err)
{
    const cmp_problem *p = f->problem;
    double *residual = DSE_ARENA_NEW(f->arena, double, p->n);
    dse_status st;

    *out = (jacobian){p->n, p->p, DSE_ARENA_NEW(f->arena, double, p->n * p->p),
                      DSE_ARENA_NEW(f->arena, double, p->p)};
    st = fit_residuals(f, x->value, residual, err);
    for (size_t j = 0; st == DSE_OK && j < p->p; j++) {
        double *c = column_of(out, j);

        if (!x->wanted[j] || x->kept[j])
            continue;
        st = fit_column(f, x->value, j, c, err);
        if (st != DSE_OK || largest(c, p->n) * range_of(&p->parameter[j]) < NO_EFFECT ||
            is_one_sided(f, residual))
            continue;
        for (size_t i = 0; i < p->n; i++)
            out->length[j] += c[i] * c[i];
        out->length[j] = sqrt(out->length[j]);
    }
    return st;
}

/* The columns of some parameters, scaled to length 1, and their singular values; right vectors in v. */
typedef struct {
    size_t k;
    size_t *index;
    gsl_matrix *u, *v;
    gsl_vector *s, *work;
} spectrum;

static void spectrum_free(spectrum *s)
{
    gsl_matrix_free(s->u);
    gsl_matrix_free(s->v);
    gsl_vector_free(s->s);
    gsl_vector_free(s->work);
}

/* Of those that have an effect and are not held. GSL wants no fewer rows than columns: rows of 0 are
 * added. */
static dse_status spectrum_of(const jacobian *j, const fit_point *x, dse_arena *a, spectrum *out,
                              dse_error *err)
{
    size_t rows;

    *out = (spectrum){.index = DSE_ARENA_NEW(a, size_t, j->p)};
    for (size_t i = 0; i < j->p; i++)
        if (j->length[i] > 0 && !x->held[i])
            out->index[out->k++] = i;
    if (!out->k)
        return DSE_OK;
    rows = j->n > out->k ? j->n : out->k;
    out->u = gsl_matrix_calloc(rows, out->k);
    out->v = gsl_matrix_alloc(out->k, out->k);
    out->s = gsl_vector_alloc(out->k);
    out->work = gsl_vector_alloc(out->k);
    if (!out->u || !out->v || !out->s || !out->work)
        dse_out_of_memory();
    for (size_t c = 0; c < out->k; c++)
        for (size_t i = 0; i < j->n; i++)
            gsl_matrix_set(out->u, i, c, column_of(j, out->index[c])[i] / j->length[out->index[c]]);
    if (gsl_linalg_SV_decomp(out->u, out->v, out->s, out->work))
        return dse_fail(err, DSE_E_RANGE,
                        "the fit is singular: the derivatives of the predictions have no singular values");
    return DSE_OK;
}

static size_t rank_of(const spectrum *s)
{
    size_t rank = 0;

    while (rank < s->k && gsl_vector_get(s->s, rank) > SINGULAR * gsl_vector_get(s->s, 0))
        rank++;
    return rank;
}

/* ---- two that act alike ------------------------------------------------------------------------ */

/* The one that takes most part in what the data see least; the last among equals. */
static size_t least_seen(const spectrum *s)
{
    double most = 0;
    size_t which = 0;

    for (size_t c = 0; c < s->k; c++)
        most = fmax(most, fabs(gsl_matrix_get(s->v, c, s->k - 1)));
    for (size_t c = 0; c < s->k; c++)
        if (fabs(gsl_matrix_get(s->v, c, s->k - 1)) >= AS_MUCH * most)
            which = s->index[c];
    return which;
}

static size_t most_alike(const jacobian *j, const spectrum *s, size_t one)
{
    double most = -1;
    size_t which = one;

    for (size_t c = 0; c < s->k; c++) {
        size_t other = s->index[c];
        double product = 0;

        for (size_t i = 0; i < j->n; i++)
            product += column_of(j, one)[i] * column_of(j, other)[i];
        product = fabs(product) / (j->length[one] * j->length[other]);
        if (other != one && product > most) {
            most = product;
            which = other;
        }
    }
    return which;
}

/* ---- what is not identified -------------------------------------------------------------------- */

static void put_back(const fit *f, fit_point *x, size_t j, cmp_parameter_state state, size_t with)
{
    x->value[j] = f->problem->parameter[j].start;
    x->wanted[j] = x->held[j] = false;
    x->parameter[j].state = state;
    x->parameter[j].with = with;
}

/* The part of a point that has no arrays. */
typedef struct {
    double *value;
    bool *wanted, *held;
    double sum;
} memory;

static memory remember(const fit *f, const fit_point *x)
{
    size_t p = f->problem->p;

    return (memory){dse_arena_copy(f->arena, x->value, p, sizeof *x->value),
                    dse_arena_copy(f->arena, x->wanted, p, sizeof *x->wanted),
                    dse_arena_copy(f->arena, x->held, p, sizeof *x->held), x->sum};
}

/* As before those without effect were put back: they have none here, but at their starts they had. */
static void keep(const fit *f, fit_point *x, const memory *m)
{
    for (size_t j = 0; j < f->problem->p; j++) {
        x->kept[j] |= m->wanted[j] && !x->wanted[j];
        x->value[j] = m->value[j];
        x->wanted[j] = m->wanted[j];
        x->held[j] = m->held[j];
    }
    x->sum = m->sum;
    x->outcome = FIT_DONE;
}

/* Puts back what has no effect, if that does no harm. */
static dse_status drop_ineffective(fit *f, fit_point *x, const jacobian *j, bool *any, dse_error *err)
{
    const memory before = remember(f, x);
    dse_status st;

    *any = false;
    for (size_t i = 0; i < j->p; i++)
        if (x->wanted[i] && !x->kept[i] && j->length[i] == 0) {
            put_back(f, x, i, CMP_NO_EFFECT, i);
            *any = true;
        }
    if (!*any)
        return DSE_OK;
    st = fit_solve(f, x, err);
    if (st == DSE_OK &&
        (x->outcome != FIT_DONE || x->sum > WORSE * before.sum + (double)fit_count(f) * NEARLY_ZERO))
        keep(f, x, &before);
    return st;
}

static dse_status drop_inseparable(fit *f, fit_point *x, const jacobian *j, bool *any, dse_error *err)
{
    spectrum s;
    dse_status st = spectrum_of(j, x, f->arena, &s, err);

    *any = st == DSE_OK && rank_of(&s) < s.k;
    if (*any) {
        size_t which = least_seen(&s);

        put_back(f, x, which, CMP_INSEPARABLE, most_alike(j, &s, which));
        st = fit_solve(f, x, err);
    }
    spectrum_free(&s);
    return st;
}

/* How much of the predictions a parameter makes up, to say which could be left as they are: of costs, those
 * first that are 0. */
static double share_of(const fit *f, const fit_point *x, const jacobian *j, size_t i)
{
    const cmp_parameter *q = &f->problem->parameter[i];

    return j->length[i] * (q->is_cost ? fabs(fit_coordinate(q, x->value[i])) + NEARLY_ZERO : 1);
}

/* More parameters are constrained than there can be for so many measurements, or none is. */
static dse_status check_count(fit *f, fit_point *x, const jacobian *j, dse_error *err)
{
    spectrum s;
    dse_status st = spectrum_of(j, x, f->arena, &s, err);

    if (st == DSE_OK) {
        x->n_effective = s.k;
        for (size_t i = 0; i < j->p; i++)
            x->effect[i] = x->held[i] ? 0 : share_of(f, x, j, i);
        x->outcome = rank_of(&s) + f->spare > fit_count_distinct(f) ? FIT_TOO_FEW : FIT_DONE;
    }
    spectrum_free(&s);
    return st;
}

static bool has_wanted(const fit *f, const fit_point *x)
{
    for (size_t j = 0; j < f->problem->p; j++)
        if (x->wanted[j])
            return true;
    return false;
}

/* One after another, until nothing is left that is not identified. */
static dse_status settle(fit *f, fit_point *x, dse_error *err)
{
    bool any = true;
    dse_status st = DSE_OK;

    while (st == DSE_OK && any && x->outcome == FIT_DONE) {
        jacobian j;

        st = jacobian_at(f, x, &j, err);
        if (st == DSE_OK)
            st = check_count(f, x, &j, err);
        if (st != DSE_OK || x->outcome != FIT_DONE)
            break;
        st = drop_ineffective(f, x, &j, &any, err);
        if (st == DSE_OK && !any)
            st = drop_inseparable(f, x, &j, &any, err);
    }
    if (st == DSE_OK && x->outcome == FIT_DONE && !has_wanted(f, x))
        x->outcome = FIT_NOTHING;
    return st;
}

dse_status fit_settle(fit *f, fit_point *x, dse_error *err)
{
    size_t p = f->problem->p;
    jacobian j;
    dse_status st;

    for (size_t i = 0; i < p; i++)
        x->held[i] = x->kept[i] = false;
    st = jacobian_at(f, x, &j, err);
    if (st == DSE_OK)
        st = check_count(f, x, &j, err);
    if (st != DSE_OK || x->outcome != FIT_DONE)
        return st;
    st = fit_solve(f, x, err);
    if (st == DSE_OK)
        st = settle(f, x, err);
    for (size_t i = 0; st == DSE_OK && i < p; i++) {
        x->parameter[i].value = x->value[i];
        x->parameter[i].error = NAN;
        if (x->wanted[i])
            x->parameter[i].state = x->held[i] ? CMP_AT_BOUND : CMP_FITTED;
    }
    return st;
}

/* ---- errors ------------------------------------------------------------------------------------ */

/* Into the parameters' units: a rate's logarithm, and a cost's step, times their derivatives. */
static void put_errors(const fit *f, fit_point *x, const size_t *index, size_t k,
                       const gsl_matrix *covariance, double *correlation)
{
    size_t p = f->problem->p;
    double s2 = x->sum / (double)(fit_count(f) - k);

    for (size_t c = 0; c < k; c++) {
        const cmp_parameter *q = &f->problem->parameter[index[c]];
        double variance = gsl_matrix_get(covariance, c, c);

        x->parameter[index[c]].error = sqrt(s2 * variance) * (q->is_cost ? q->step : x->value[index[c]]);
        for (size_t d = 0; d < k; d++)
            correlation[index[c] * p + index[d]] =
                c == d ? 1
                       : gsl_matrix_get(covariance, c, d) / sqrt(variance * gsl_matrix_get(covariance, d, d));
    }
}

dse_status fit_errors(fit *f, fit_point *x, double *correlation, dse_error *err)
{
    size_t p = f->problem->p, n = f->problem->n, k = 0, *index = DSE_ARENA_NEW(f->arena, size_t, p);
    gsl_matrix *m, *covariance;
    jacobian j;
    dse_status st = jacobian_at(f, x, &j, err);

    for (size_t i = 0; i < p * p; i++)
        correlation[i] = NAN;
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < p; i++)
        if (j.length[i] > 0 && !x->held[i])
            index[k++] = i;
    if (!k || k >= fit_count(f))
        return DSE_OK; /* all at bounds, or no degree of freedom: no error is known */
    m = gsl_matrix_alloc(n, k);
    covariance = gsl_matrix_alloc(k, k);
    if (!m || !covariance)
        dse_out_of_memory();
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            gsl_matrix_set(m, i, c, column_of(&j, index[c])[i]);
    if (gsl_multifit_nlinear_covar(m, 0, covariance))
        st = dse_fail(err, DSE_E_RANGE, "the fit is singular: its covariance cannot be computed");
    else
        put_errors(f, x, index, k, covariance, correlation);
    gsl_matrix_free(covariance);
    gsl_matrix_free(m);
    return st;
}
