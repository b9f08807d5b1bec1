/* Nonlinear least squares within bounds: GSL's trust region (Levenberg-Marquardt) over the parameters that
 * are free, and a set of those that are held at a bound. A step that leaves the bounds is judged by the
 * prediction on them; what left is held there and the others go on. In the end those are let go whose
 * gradient points inwards. Source of the scheme: projected Newton methods with an active set, as in Nocedal
 * and Wright, Numerical Optimization, chapter 16.7. */
#include "compare/fit_parts.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

/* The step of a finite difference, in the logarithm: predictions are whole ns, runs a millisecond or more. */
#define RATE_STEP      1e-3
#define MAX_ITERATIONS 100
#define MAX_RELEASES   2     /* of one parameter: no going round in circles */
#define STEP_DONE      1e-6  /* of a rate's logarithm */
#define COST_STEP_DONE 1e-3  /* of a cost's step */
#define SUM_DONE       1e-10 /* change of the sum of squares, relative */
#define RESIDUAL_DONE  1e-12 /* root mean square: there is nothing left to fit */
#define HOPELESS       1e6   /* a residual that no step is taken to */
#define INWARDS        1e-4  /* cosine between residuals and column */

double fit_coordinate(const cmp_parameter *p, double value)
{
    return p->is_cost ? value / p->step : log(value);
}

/* The value of a coordinate, within its bounds. */
static double value_of(const cmp_parameter *p, double coordinate)
{
    return fmin(fmax(p->is_cost ? coordinate * p->step : exp(coordinate), p->min), p->max);
}

size_t cmp_first_of(const cmp_problem *p, size_t i) { return p->repeats ? p->repeats[i] : i; }

size_t cmp_unit_of(const cmp_problem *p, size_t i) { return p->unit ? p->unit[i] : cmp_first_of(p, i); }

static bool counts(const fit *f, size_t i)
{
    return f->left_out == FIT_ALL || cmp_unit_of(f->problem, i) != f->left_out;
}

size_t fit_count(const fit *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->problem->n; i++)
        n += counts(f, i);
    return n;
}

size_t fit_count_distinct(const fit *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->problem->n; i++)
        n += counts(f, i) && cmp_first_of(f->problem, i) == i;
    return n;
}

dse_status fit_residuals(const fit *f, const double *value, double *residual, dse_error *err)
{
    const cmp_problem *p = f->problem;
    dse_status st = p->model(p->user, value, residual, err);

    for (size_t i = 0; st == DSE_OK && i < p->n; i++) {
        if (!(residual[i] > 0) || !isfinite(residual[i]))
            return dse_fail(err, DSE_E_RANGE, "%s: the prediction is %g; it must be above 0", p->name[i],
                            residual[i]);
        residual[i] = counts(f, i) ? log(residual[i] / p->measured[i]) : 0;
    }
    return st;
}

static double step_of(const cmp_parameter *p, double coordinate)
{
    return p->is_cost ? fmax(1, RATE_STEP * fabs(coordinate)) : RATE_STEP;
}

/* Residuals with parameter j at *at; where nothing ends there (DSE_E_SIM), at its value, and *at says so. */
static dse_status probe(fit *f, const double *value, size_t j, double *at, double *residual, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    memcpy(f->at, value, f->problem->p * sizeof *value);
    f->at[j] = *at;
    st = fit_residuals(f, f->at, residual, &why);
    if (st == DSE_E_SIM && *at != value[j]) {
        f->at[j] = *at = value[j];
        return fit_residuals(f, f->at, residual, err);
    }
    return st == DSE_OK ? DSE_OK : dse_fail_at(err, st, why.where, "%s", why.text);
}

static dse_status fail_probe(const cmp_parameter *p, double value, dse_error *err)
{
    return dse_fail(err, DSE_E_SIM, "no prediction can be made with %s other than %g %s", p->name, value,
                    p->unit);
}

dse_status fit_column(fit *f, const double *value, size_t j, double *column, dse_error *err)
{
    const cmp_parameter *q = &f->problem->parameter[j];
    double c = fit_coordinate(q, value[j]), step = step_of(q, c), width;
    double low = value_of(q, c - step), high = value_of(q, c + step);
    dse_status st = probe(f, value, j, &low, f->low, err);

    if (st != DSE_OK || (st = probe(f, value, j, &high, f->high, err)) != DSE_OK)
        return st;
    f->low_is_value = low == value[j];
    f->high_is_value = high == value[j];
    if (f->low_is_value && f->high_is_value)
        return fail_probe(q, value[j], err);
    width = fit_coordinate(q, high) - fit_coordinate(q, low);
    for (size_t i = 0; i < f->problem->n; i++)
        column[i] = (f->high[i] - f->low[i]) / width;
    return DSE_OK;
}

/* ---- the parameters that are free -------------------------------------------------------------- */

typedef struct {
    fit *f;
    size_t k;      /* free ones */
    size_t *index; /* of each */
    double *value; /* p: of all; what is not free stays */
    double *column;
    size_t rows; /* at least k: those beyond the measurements are 0, as GSL wants no fewer than parameters */
} run;

static void values_of(const run *r, const gsl_vector *x)
{
    for (size_t j = 0; j < r->k; j++)
        r->value[r->index[j]] = value_of(&r->f->problem->parameter[r->index[j]], gsl_vector_get(x, j));
}

/* A step to where nothing ends is one that is not taken; the first point has been tried before. */
static int residuals_of(const gsl_vector *x, void *user, gsl_vector *out)
{
    run *r = user;
    size_t n = r->f->problem->n;

    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    values_of(r, x);
    st = fit_residuals(r->f, r->value, r->column, &why);
    if (st != DSE_OK && st != DSE_E_SIM) {
        r->f->status = dse_fail_at(r->f->err, st, why.where, "%s", why.text);
        return GSL_EBADFUNC;
    }
    for (size_t i = 0; i < r->rows; i++)
        gsl_vector_set(out, i, st == DSE_E_SIM ? HOPELESS : i < n ? r->column[i] : 0);
    return GSL_SUCCESS;
}

/* The difference to one side only, from the residuals in f->low: half the predictions, and good enough for a
 * direction. */
static dse_status one_sided_column(fit *f, const double *value, size_t j, double *column, dse_error *err)
{
    const cmp_problem *p = f->problem;
    const cmp_parameter *q = &p->parameter[j];
    double c = fit_coordinate(q, value[j]), step = step_of(q, c), other = value_of(q, c + step), width;
    dse_status st = DSE_OK;

    if (fit_coordinate(q, other) - c >= step / 2)
        st = probe(f, value, j, &other, f->high, err);
    else
        other = value[j];
    if (st == DSE_OK && other == value[j]) {
        other = value_of(q, c - step);
        st = probe(f, value, j, &other, f->high, err);
    }
    if (st == DSE_OK && other == value[j])
        return fail_probe(q, value[j], err);
    width = fit_coordinate(q, other) - c;
    for (size_t i = 0; st == DSE_OK && i < p->n; i++)
        column[i] = (f->high[i] - f->low[i]) / width;
    return st;
}

static int jacobian_of(const gsl_vector *x, void *user, gsl_matrix *out)
{
    run *r = user;
    size_t n = r->f->problem->n;

    values_of(r, x);
    r->f->status = fit_residuals(r->f, r->value, r->f->low, r->f->err);
    for (size_t j = 0; j < r->k; j++) {
        if (r->f->status == DSE_OK)
            r->f->status = one_sided_column(r->f, r->value, r->index[j], r->column, r->f->err);
        if (r->f->status != DSE_OK)
            return GSL_EBADFUNC;
        for (size_t i = 0; i < r->rows; i++)
            gsl_matrix_set(out, i, j, i < n ? r->column[i] : 0);
    }
    return GSL_SUCCESS;
}

typedef enum { WENT_OUT, ENDED, TIRED } ending;

static double sum_of(const gsl_multifit_nlinear_workspace *w)
{
    double sum = 0;

    for (size_t i = 0; i < w->f->size; i++)
        sum += gsl_vector_get(w->f, i) * gsl_vector_get(w->f, i);
    return sum;
}

static bool is_outside(const cmp_parameter *p, double coordinate)
{
    return coordinate < fit_coordinate(p, p->min) - 1e-12 || coordinate > fit_coordinate(p, p->max) + 1e-12;
}

static bool hold_those_outside(const run *r, const gsl_vector *x, bool *held)
{
    bool any = false;

    for (size_t j = 0; j < r->k; j++)
        if (is_outside(&r->f->problem->parameter[r->index[j]], gsl_vector_get(x, j)))
            any = held[r->index[j]] = true;
    return any;
}

static bool is_small(const run *r, const gsl_multifit_nlinear_workspace *w)
{
    for (size_t j = 0; j < r->k; j++) {
        bool cost = r->f->problem->parameter[r->index[j]].is_cost;
        double x = gsl_vector_get(w->x, j),
               enough = cost ? fmax(COST_STEP_DONE, STEP_DONE * fabs(x)) : STEP_DONE;

        if (fabs(gsl_vector_get(w->dx, j)) > enough)
            return false;
    }
    return true;
}

/* That no smaller sum is found in any nearby direction (GSL_ENOPROG) is an end as well: predictions are not
 * smooth. */
static ending iterate(const run *r, gsl_multifit_nlinear_workspace *w, bool *held)
{
    double least = (double)fit_count(r->f) * RESIDUAL_DONE * RESIDUAL_DONE, before = sum_of(w), after;

    for (int i = 0; i < MAX_ITERATIONS && before > least; i++) {
        int code = gsl_multifit_nlinear_iterate(w);

        if (r->f->status != DSE_OK || code == GSL_ENOPROG)
            return ENDED;
        if (code != GSL_SUCCESS)
            return TIRED;
        if (hold_those_outside(r, w->x, held))
            return WENT_OUT;
        after = sum_of(w);
        if (is_small(r, w) || before - after <= SUM_DONE * before)
            return ENDED;
        before = after;
    }
    return before > least ? TIRED : ENDED;
}

/* Over those that are free; at least one. */
static dse_status run_free(run *r, fit_point *x, ending *end, dse_error *err)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {.f = residuals_of, .df = jacobian_of, .p = r->k, .params = r};
    gsl_multifit_nlinear_workspace *w;
    gsl_vector *first = gsl_vector_alloc(r->k);

    fdf.n = r->rows = r->f->problem->n > r->k ? r->f->problem->n : r->k;
    how.solver = gsl_multifit_nlinear_solver_qr;
    w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, r->rows, r->k);
    if (!w || !first)
        dse_out_of_memory();
    for (size_t j = 0; j < r->k; j++)
        gsl_vector_set(first, j,
                       fit_coordinate(&r->f->problem->parameter[r->index[j]], x->value[r->index[j]]));
    r->f->status = DSE_OK;
    r->f->err = err;
    *end = TIRED;
    if (gsl_multifit_nlinear_init(first, &fdf, w) == GSL_SUCCESS)
        *end = iterate(r, w, x->held);
    if (r->f->status == DSE_OK) {
        values_of(r, w->x);
        x->sum = sum_of(w);
        for (size_t j = 0; j < r->k; j++)
            x->value[r->index[j]] = r->value[r->index[j]];
    }
    gsl_vector_free(first);
    gsl_multifit_nlinear_free(w);
    return r->f->status;
}

/* ---- the parameters that are held -------------------------------------------------------------- */

static double length(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* How much the residuals shrink along a column, as a cosine; positive: by a larger value. */
static double descent(const double *residual, const double *column, size_t n)
{
    double product = 0, lengths = length(residual, n) * length(column, n);

    for (size_t i = 0; i < n; i++)
        product -= residual[i] * column[i];
    return lengths > 0 ? product / lengths : 0;
}

/* Which way a parameter at a bound would go: positive, inwards. Uses *column. */
static dse_status inwards_of(fit *f, const fit_point *x, size_t j, const double *residual, double *column,
                             double *out, dse_error *err)
{
    dse_status st = fit_column(f, x->value, j, column, err);

    if (st == DSE_OK)
        *out =
            descent(residual, column, f->problem->n) * (x->value[j] > f->problem->parameter[j].min ? -1 : 1);
    return st;
}

/* Holds those that are at a bound already and would go out: a step that has them in it gains nothing. */
static dse_status hold_those_at_bounds(fit *f, fit_point *x, double *residual, double *column, dse_error *err)
{
    const cmp_problem *p = f->problem;
    dse_status st = fit_residuals(f, x->value, residual, err);

    for (size_t j = 0; st == DSE_OK && j < p->p; j++) {
        double inwards;

        if (!x->wanted[j] || x->held[j] ||
            (x->value[j] > p->parameter[j].min && x->value[j] < p->parameter[j].max))
            continue;
        st = inwards_of(f, x, j, residual, column, &inwards, err);
        x->held[j] = st == DSE_OK && inwards < -INWARDS;
    }
    return st;
}

/* Lets the one go that gains most by going inwards. */
static dse_status release(fit *f, fit_point *x, double *residual, double *column, uint32_t *releases,
                          bool *any, dse_error *err)
{
    const cmp_problem *p = f->problem;
    double best = INWARDS;
    size_t which = p->p;
    dse_status st = fit_residuals(f, x->value, residual, err);

    for (size_t j = 0; st == DSE_OK && j < p->p; j++) {
        double inwards;

        if (!x->held[j] || releases[j] == MAX_RELEASES)
            continue;
        st = inwards_of(f, x, j, residual, column, &inwards, err);
        if (st == DSE_OK && inwards > best) {
            best = inwards;
            which = j;
        }
    }
    *any = st == DSE_OK && which < p->p;
    if (*any) {
        x->held[which] = false;
        releases[which]++;
    }
    return st;
}

static size_t list_free(const fit_point *x, size_t p, size_t *index)
{
    size_t k = 0;

    for (size_t j = 0; j < p; j++)
        if (x->wanted[j] && !x->held[j])
            index[k++] = j;
    return k;
}

dse_status fit_solve(fit *f, fit_point *x, dse_error *err)
{
    size_t p = f->problem->p, n = f->problem->n;
    run r = {.f = f,
             .index = DSE_ARENA_NEW(f->arena, size_t, p),
             .value = DSE_ARENA_NEW(f->arena, double, p),
             .column = DSE_ARENA_NEW(f->arena, double, n)};
    double *residual = DSE_ARENA_NEW(f->arena, double, n);
    uint32_t *releases = DSE_ARENA_NEW(f->arena, uint32_t, p);
    bool any = true;
    dse_status st = DSE_OK;

    for (size_t j = 0; j < p; j++)
        x->held[j] = false;
    x->outcome = FIT_DONE;
    while (st == DSE_OK && any) {
        ending end = ENDED;

        if ((st = hold_those_at_bounds(f, x, residual, r.column, err)) != DSE_OK)
            break;
        for (size_t j = 0; j < p; j++)
            r.value[j] = x->value[j];
        r.k = list_free(x, p, r.index);
        if (r.k)
            st = run_free(&r, x, &end, err);
        if (st != DSE_OK || end == WENT_OUT)
            continue;
        if (end == TIRED) {
            x->outcome = FIT_NO_CONVERGENCE;
            break;
        }
        st = release(f, x, residual, r.column, releases, &any, err);
    }
    if (st == DSE_OK && (st = fit_residuals(f, x->value, residual, err)) == DSE_OK)
        x->sum = length(residual, n) * length(residual, n);
    return st;
}
