/* One rate fitted to many measurements: a problem of one dimension. The predictions are made once at points
 * of the rate between its bounds, STEP apart, and joined by monotone cubics (Steffen, Astron. Astrophys. 239,
 * 1990) of logarithms; all that follows, the fit and those without a unit, needs no further prediction. */
#include "compare/fit_parts.h"

#include "base/gsl.h"

#include <gsl/gsl_interp.h>
#include <math.h>

#define STEP      0.08 /* of the rate's logarithm */
#define DONE      1e-7
#define NO_EFFECT 1e-4 /* change of a logarithm over the whole range, as in fit_identify.c */

typedef struct {
    const cmp_problem *p;
    size_t n_nodes;
    double *x;            /* n_nodes: logarithms of the rate */
    double *y;            /* n x n_nodes: of predicted over measured */
    gsl_interp **line;    /* n */
    gsl_interp_accel *at; /* of all of them, which have the same x */
} curves;

static void curves_free(curves *c)
{
    for (size_t i = 0; i < c->p->n; i++)
        if (c->line[i])
            gsl_interp_free(c->line[i]);
    if (c->at)
        gsl_interp_accel_free(c->at);
}

static double residual_of(const curves *c, size_t i, double x)
{
    return gsl_interp_eval(c->line[i], c->x, c->y + i * c->n_nodes, x, c->at);
}

static dse_status check(const cmp_problem *p, dse_error *err)
{
    const cmp_parameter *q = p->parameter;

    if (!p->n || p->p != 1 || q->is_cost)
        return dse_fail(err, DSE_E_RANGE,
                        "the mean of absolute errors is minimised over one rate; fit one alone");
    if (!(q->min > 0 && q->min < q->max && q->min <= q->start && q->start <= q->max))
        return dse_fail(err, DSE_E_RANGE, "%s starts at %g, which is not between %g and %g %s", q->name,
                        q->start, q->min, q->max, q->unit);
    for (size_t i = 0; i < p->n; i++)
        if (!(p->measured[i] > 0) || !isfinite(p->measured[i]))
            return dse_fail(err, DSE_E_RANGE, "%s: the measured value is %g; it must be above 0", p->name[i],
                            p->measured[i]);
    return DSE_OK;
}

static dse_status predict_nodes(curves *c, double *predicted, dse_error *err)
{
    const cmp_problem *p = c->p;
    dse_status st = DSE_OK;

    for (size_t k = 0; st == DSE_OK && k < c->n_nodes; k++) {
        const double rate = exp(c->x[k]);

        st = p->model(p->user, &rate, predicted, err);
        for (size_t i = 0; st == DSE_OK && i < p->n; i++) {
            if (!(predicted[i] > 0) || !isfinite(predicted[i]))
                return dse_fail(err, DSE_E_RANGE, "%s: the prediction is %g; it must be above 0", p->name[i],
                                predicted[i]);
            c->y[i * c->n_nodes + k] = log(predicted[i] / p->measured[i]);
        }
        if (p->progress)
            p->progress(p->user, k + 1, c->n_nodes);
    }
    return st;
}

static dse_status curves_make(const cmp_problem *p, dse_arena *a, curves *c, dse_error *err)
{
    const double low = log(p->parameter->min), high = log(p->parameter->max);
    dse_status st;

    *c = (curves){.p = p, .n_nodes = (size_t)fmax(4, ceil((high - low) / STEP) + 1)};
    c->x = DSE_ARENA_NEW(a, double, c->n_nodes);
    c->y = DSE_ARENA_NEW(a, double, p->n * c->n_nodes);
    c->line = DSE_ARENA_NEW(a, gsl_interp *, p->n);
    for (size_t k = 0; k < c->n_nodes; k++)
        c->x[k] = low + (high - low) * (double)k / (double)(c->n_nodes - 1);
    if ((st = predict_nodes(c, DSE_ARENA_NEW(a, double, p->n), err)) != DSE_OK)
        return st;
    if (!(c->at = gsl_interp_accel_alloc()))
        dse_out_of_memory();
    for (size_t i = 0; i < p->n; i++) {
        if (!(c->line[i] = gsl_interp_alloc(gsl_interp_steffen, c->n_nodes)))
            dse_out_of_memory();
        gsl_interp_init(c->line[i], c->x, c->y + i * c->n_nodes, c->n_nodes);
    }
    return DSE_OK;
}

static bool has_effect(const curves *c)
{
    for (size_t i = 0; i < c->p->n; i++)
        if (fabs(c->y[i * c->n_nodes + c->n_nodes - 1] - c->y[i * c->n_nodes]) >= NO_EFFECT)
            return true;
    return false;
}

/* The mean size of the residuals without a unit (FIT_ALL: of all); NaN if nothing is left. */
static double loss(const curves *c, double x, size_t left_out)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < c->p->n; i++) {
        if (left_out != FIT_ALL && cmp_unit_of(c->p, i) == left_out)
            continue;
        sum += fabs(residual_of(c, i, x));
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The best node, then the golden section between its neighbours. */
static double minimise(const curves *c, size_t left_out)
{
    const double golden = (sqrt(5) - 1) / 2;
    double low, high, best = INFINITY;
    size_t at = 0;

    for (size_t k = 0; k < c->n_nodes; k++) {
        const double here = loss(c, c->x[k], left_out);

        if (isnan(here))
            return NAN;
        if (here < best) {
            best = here;
            at = k;
        }
    }
    low = c->x[at ? at - 1 : 0];
    high = c->x[at + 1 < c->n_nodes ? at + 1 : at];
    while (high - low > DONE) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);

        if (loss(c, a, left_out) <= loss(c, b, left_out))
            high = b;
        else
            low = a;
    }
    return (low + high) / 2;
}

/* The jackknife's standard error of the logarithm, by what the fit comes to without each unit in turn; NaN:
 * of one. */
static double jackknife(double sum, double squares, double k)
{
    return k > 1 ? sqrt(fmax(0, (k - 1) / k * (squares - sum * sum / k))) : NAN;
}

static void without_each(const curves *c, double *left_out, double *error)
{
    const cmp_problem *p = c->p;
    double sum = 0, squares = 0, k = 0;

    for (size_t i = 0; i < p->n; i++) {
        double x;

        if (cmp_unit_of(p, i) != i)
            continue;
        x = minimise(c, i);
        for (size_t j = i; left_out && j < p->n; j++)
            if (cmp_unit_of(p, j) == i)
                left_out[j] = isnan(x) ? NAN : p->measured[j] * exp(residual_of(c, j, x));
        if (isnan(x))
            continue;
        sum += x;
        squares += x * x;
        k++;
    }
    *error = jackknife(sum, squares, k);
}

static dse_status fit_curves(const curves *c, dse_arena *a, cmp_fit_result *r, dse_error *err)
{
    const cmp_problem *p = c->p;
    const cmp_parameter *q = p->parameter;
    const bool any = has_effect(c);
    const double x = any ? minimise(c, FIT_ALL) : log(q->start);
    double squares = 0, error;
    dse_status st;

    *r = (cmp_fit_result){.parameter = DSE_ARENA_NEW(a, cmp_fitted, 1),
                          .correlation = DSE_ARENA_NEW(a, double, 1),
                          .n_fitted = any,
                          .before = DSE_ARENA_NEW(a, double, p->n),
                          .after = DSE_ARENA_NEW(a, double, p->n),
                          .left_out = p->leave_one_out ? DSE_ARENA_NEW(a, double, p->n) : NULL,
                          .starts_agreed = p->starts};
    if (!any)
        return dse_fail(err, DSE_E_RANGE, "no prediction changes with %s: there is nothing to fit", q->name);
    without_each(c, r->left_out, &error);
    r->parameter->value = fmin(fmax(exp(x), q->min), q->max);
    r->parameter->state =
        x - c->x[0] < 2 * DONE || c->x[c->n_nodes - 1] - x < 2 * DONE ? CMP_AT_BOUND : CMP_FITTED;
    r->parameter->error = r->parameter->state == CMP_FITTED ? error * r->parameter->value : NAN;
    *r->correlation = isnan(r->parameter->error) ? NAN : 1;
    for (size_t i = 0; i < p->n; i++)
        squares += residual_of(c, i, x) * residual_of(c, i, x);
    r->rms = sqrt(squares / (double)p->n);
    st = p->model(p->user, &q->start, r->before, err);
    return st == DSE_OK ? p->model(p->user, &r->parameter->value, r->after, err) : st;
}

dse_status cmp_fit_one(const cmp_problem *problem, dse_arena *a, cmp_fit_result *out, dse_error *err)
{
    gsl_error_handler_t *old;
    cmp_fit_result r;
    curves c;
    dse_status st = check(problem, err);

    if (st != DSE_OK)
        return st;
    old = gsl_set_error_handler(dse_gsl_error);
    st = curves_make(problem, a, &c, err);
    if (st == DSE_OK)
        st = fit_curves(&c, a, &r, err);
    curves_free(&c);
    gsl_set_error_handler(old);
    if (st == DSE_OK)
        *out = r;
    return st;
}
