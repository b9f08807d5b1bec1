#include "base/gsl.h"
#include "base/strbuf.h"
#include "compare/fit_parts.h"

#include <gsl/gsl_qrng.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#define AGREE       1.01  /* of sums of squares */
#define BETTER      0.999 /* a later start must end so much lower to be preferred */
#define NEARLY_ZERO 1e-12 /* a squared residual that is rounding */
#define MAX_SOBOL   40    /* dimensions that GSL's sequence has */

/* ---- the problem ------------------------------------------------------------------------------- */

static dse_status check(const cmp_problem *p, dse_error *err)
{
    for (size_t i = 0; i < p->n; i++)
        if (!(p->measured[i] > 0) || !isfinite(p->measured[i]))
            return dse_fail(err, DSE_E_RANGE, "%s: the measured value is %g; it must be above 0", p->name[i],
                            p->measured[i]);
    for (size_t j = 0; j < p->p; j++) {
        const cmp_parameter *q = &p->parameter[j];

        if (!(q->min < q->max && q->min <= q->start && q->start <= q->max))
            return dse_fail(err, DSE_E_RANGE, "%s starts at %g, which is not between %g and %g %s", q->name,
                            q->start, q->min, q->max, q->unit);
        if (q->is_cost ? !(q->min >= 0 && q->step > 0) : !(q->min > 0))
            return dse_fail(err, DSE_E_RANGE, "%s may be as low as %g %s; %s", q->name, q->min, q->unit,
                            q->is_cost ? "a cost is 0 or more, and needs a step" : "a rate is above 0");
    }
    if (!p->n || !p->p)
        return dse_fail(err, DSE_E_RANGE, "there is nothing to fit: %zu measurements, %zu parameters", p->n,
                        p->p);
    return DSE_OK;
}

static void point_init(fit_point *x, size_t p, dse_arena *a)
{
    *x = (fit_point){.value = DSE_ARENA_NEW(a, double, p),
                     .wanted = DSE_ARENA_NEW(a, bool, p),
                     .held = DSE_ARENA_NEW(a, bool, p),
                     .kept = DSE_ARENA_NEW(a, bool, p),
                     .parameter = DSE_ARENA_NEW(a, cmp_fitted, p),
                     .effect = DSE_ARENA_NEW(a, double, p)};
}

/* ---- too few measurements ----------------------------------------------------------------------- */

/* The names of the `count` parameters with the least effect. */
static void list_least(const cmp_problem *p, const double *effect, size_t count, dse_strbuf *out)
{
    double last = 0;

    for (size_t done = 0; done < count;) {
        double next = INFINITY;

        for (size_t j = 0; j < p->p; j++)
            if (effect[j] > last && effect[j] < next)
                next = effect[j];
        for (size_t j = 0; j < p->p && done < count; j++)
            if (effect[j] == next)
                dse_strbuf_addf(out, "%s%s", done++ ? ", " : "", p->parameter[j].name);
        last = next;
    }
}

/* With one measurement there is nothing to leave as it is that lets the rest be fitted. */
static dse_status fail_too_few(const fit *f, const fit_point *x, dse_error *err)
{
    const cmp_problem *p = f->problem;
    const size_t n = fit_count_distinct(f), more = x->n_effective + 1 - n;
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text,
                    "%zu%s measurement%s for %zu parameter%s that they depend on; at least %zu are needed", n,
                    n < p->n ? " different" : "", n == 1 ? "" : "s", x->n_effective,
                    x->n_effective == 1 ? "" : "s", x->n_effective + 1);
    if (more < x->n_effective) {
        dse_strbuf_addf(&text, ", or leave %zu as %s, such as ", more, more == 1 ? "it is" : "they are");
        list_least(p, x->effect, more, &text);
    }
    st = dse_fail(err, DSE_E_RANGE, "%s", text.data);
    dse_strbuf_free(&text);
    return st;
}

/* ---- starts ------------------------------------------------------------------------------------- */

/* A Sobol sequence, shifted by random numbers (Cranley and Patterson): even, and different by seed. Above
 * MAX_SOBOL parameters they are random alone. */
typedef struct {
    gsl_rng *random;
    gsl_qrng *sobol; /* NULL: too many parameters */
    double *shift, *u;
} drawer;

static void drawer_free(drawer *d)
{
    gsl_rng_free(d->random);
    if (d->sobol)
        gsl_qrng_free(d->sobol);
}

static void drawer_init(const cmp_problem *p, dse_arena *a, drawer *d)
{
    bool even = p->p <= MAX_SOBOL;

    *d =
        (drawer){gsl_rng_alloc(gsl_rng_mt19937), even ? gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)p->p) : NULL,
                 DSE_ARENA_NEW(a, double, p->p), DSE_ARENA_NEW(a, double, p->p)};
    if (!d->random || (even && !d->sobol))
        dse_out_of_memory();
    gsl_rng_set(d->random, (unsigned long)p->seed);
    for (size_t j = 0; j < p->p; j++)
        d->shift[j] = gsl_rng_uniform(d->random);
}

/* Rates evenly in their logarithm; costs by the cube, as most are small against what is possible. */
static void draw(const cmp_problem *p, drawer *d, double *value)
{
    if (d->sobol)
        gsl_qrng_get(d->sobol, d->u);
    for (size_t j = 0; j < p->p; j++) {
        const cmp_parameter *q = &p->parameter[j];
        double u = d->sobol ? fmod(d->u[j] + d->shift[j], 1) : gsl_rng_uniform(d->random);

        value[j] = q->is_cost ? q->min + (q->max - q->min) * u * u * u : q->min * pow(q->max / q->min, u);
        value[j] = fmin(fmax(value[j], q->min), q->max);
    }
}

/* ---- the fit to all ------------------------------------------------------------------------------ */

typedef struct {
    const cmp_problem *p;
    fit f;
    dse_arena *arena, scratch; /* of the result; of one fit */
    size_t done, total;
    fit_point *start; /* one each */
} session;

static void step_done(session *s)
{
    dse_arena_reset(&s->scratch);
    if (s->p->progress)
        s->p->progress(s->p->user, ++s->done, s->total);
}

/* Where the simulated system cannot finish with some values, as drawn, that way of fitting ends, and not all
 * of them. */
static dse_status settle(session *s, fit_point *x, bool may_fail, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st = fit_settle(&s->f, x, &why);

    if (st == DSE_E_SIM && may_fail) {
        x->outcome = FIT_NO_CONVERGENCE;
        return DSE_OK;
    }
    return st == DSE_OK ? DSE_OK : dse_fail_at(err, st, why.where, "%s", why.text);
}

/* Starts after the first may end anywhere, or nowhere: only what the first lacks is an error. */
static dse_status run_starts(session *s, dse_error *err)
{
    const cmp_problem *p = s->p;
    drawer d;
    dse_status st = DSE_OK;

    drawer_init(p, s->arena, &d);
    for (uint32_t k = 0; st == DSE_OK && k < p->starts; k++) {
        fit_point *x = &s->start[k];

        point_init(x, p->p, s->arena);
        if (k)
            draw(p, &d, x->value);
        for (size_t j = 0; j < p->p; j++) {
            if (!k)
                x->value[j] = p->parameter[j].start;
            x->wanted[j] = true;
        }
        st = settle(s, x, k > 0, err);
        if (st == DSE_OK && !k && x->outcome == FIT_TOO_FEW)
            st = fail_too_few(&s->f, x, err);
        step_done(s);
    }
    drawer_free(&d);
    return st;
}

/* The lowest sum of squares; the earliest of those that are as low. NULL: none converged. */
static fit_point *best_of(session *s)
{
    double floor = (double)s->p->n * NEARLY_ZERO;
    fit_point *best = NULL;

    for (uint32_t k = 0; k < s->p->starts; k++) {
        fit_point *x = &s->start[k];

        if (x->outcome == FIT_DONE && (!best || x->sum + floor < BETTER * (best->sum + floor)))
            best = x;
    }
    return best;
}

static dse_status fail_none(const session *s, dse_error *err)
{
    for (uint32_t k = 0; k < s->p->starts; k++)
        if (s->start[k].outcome == FIT_NO_CONVERGENCE)
            return dse_fail(err, DSE_E_RANGE,
                            "the fit does not converge from any of %u start%s; fit fewer parameters, or more "
                            "measurements",
                            s->p->starts, s->p->starts == 1 ? "" : "s");
    return dse_fail(err, DSE_E_RANGE,
                    "no prediction changes with any of the parameters: there is nothing to fit");
}

static uint32_t count_agreeing(const session *s, const fit_point *best)
{
    double limit = AGREE * best->sum + (double)s->p->n * NEARLY_ZERO;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->p->starts; k++)
        n += s->start[k].outcome == FIT_DONE && s->start[k].sum <= limit;
    return n;
}

/* ---- leaving one out ------------------------------------------------------------------------------ */

/* Without the unit of which measurement i is the first. */
static dse_status leave_out(session *s, const fit_point *best, size_t i, double *predicted, double *out,
                            dse_error *err)
{
    const cmp_problem *p = s->p;
    fit_point x;
    dse_status st;

    point_init(&x, p->p, &s->scratch);
    memcpy(x.value, best->value, p->p * sizeof *x.value);
    memcpy(x.wanted, best->wanted, p->p * sizeof *x.wanted);
    s->f.left_out = i;
    s->f.spare = 0;
    for (size_t k = i; k < p->n; k++)
        if (cmp_unit_of(p, k) == i)
            out[k] = NAN;
    if (!fit_count(&s->f))
        return DSE_OK;
    st = settle(s, &x, true, err);
    if (st != DSE_OK || (x.outcome != FIT_DONE && x.outcome != FIT_NOTHING) ||
        (st = p->model(p->user, x.value, predicted, err)) != DSE_OK)
        return st;
    for (size_t k = i; k < p->n; k++)
        if (cmp_unit_of(p, k) == i)
            out[k] = predicted[k];
    return DSE_OK;
}

static dse_status leave_each_out(session *s, const fit_point *best, double *out, dse_error *err)
{
    double *predicted = DSE_ARENA_NEW(s->arena, double, s->p->n);
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < s->p->n; i++) {
        if (cmp_unit_of(s->p, i) == i)
            st = leave_out(s, best, i, predicted, out, err);
        step_done(s);
    }
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static cmp_fit_result result_of(const cmp_problem *p, dse_arena *a)
{
    return (cmp_fit_result){.correlation = DSE_ARENA_NEW(a, double, p->p * p->p),
                            .before = DSE_ARENA_NEW(a, double, p->n),
                            .after = DSE_ARENA_NEW(a, double, p->n),
                            .left_out = p->leave_one_out ? DSE_ARENA_NEW(a, double, p->n) : NULL};
}

static dse_status fill_result(session *s, fit_point *best, cmp_fit_result *r, dse_error *err)
{
    const cmp_problem *p = s->p;
    double *start = DSE_ARENA_NEW(s->arena, double, p->p);
    dse_status st;

    for (size_t j = 0; j < p->p; j++) {
        start[j] = p->parameter[j].start;
        r->n_fitted += best->wanted[j];
    }
    r->parameter = best->parameter;
    r->rms = sqrt(best->sum / (double)p->n);
    r->starts_agreed = count_agreeing(s, best);
    if ((st = fit_errors(&s->f, best, r->correlation, err)) != DSE_OK ||
        (st = p->model(p->user, start, r->before, err)) != DSE_OK ||
        (st = p->model(p->user, best->value, r->after, err)) != DSE_OK)
        return st;
    return r->left_out ? leave_each_out(s, best, r->left_out, err) : DSE_OK;
}

static dse_status run_session(session *s, cmp_fit_result *r, dse_error *err)
{
    const cmp_problem *p = s->p;
    fit_point *best;
    dse_status st;

    s->start = DSE_ARENA_NEW(s->arena, fit_point, p->starts);
    s->f.at = DSE_ARENA_NEW(s->arena, double, p->p);
    s->f.low = DSE_ARENA_NEW(s->arena, double, p->n);
    s->f.high = DSE_ARENA_NEW(s->arena, double, p->n);
    *r = result_of(p, s->arena);
    if ((st = run_starts(s, err)) != DSE_OK)
        return st;
    best = best_of(s);
    return best ? fill_result(s, best, r, err) : fail_none(s, err);
}

dse_status cmp_fit(const cmp_problem *problem, dse_arena *a, cmp_fit_result *out, dse_error *err)
{
    session s = {.p = problem,
                 .f = {.problem = problem, .left_out = FIT_ALL, .spare = 1},
                 .arena = a,
                 .total = problem->starts + (problem->leave_one_out ? problem->n : 0)};
    gsl_error_handler_t *old;
    cmp_fit_result r;
    dse_status st = check(problem, err);

    if (st != DSE_OK)
        return st;
    old = gsl_set_error_handler(dse_gsl_error);
    dse_arena_init(&s.scratch);
    s.f.arena = &s.scratch;
    st = run_session(&s, &r, err);
    dse_arena_free(&s.scratch);
    gsl_set_error_handler(old);
    if (st == DSE_OK)
        *out = r;
    return st;
}
