#include "compare/robust.h"

#include "base/gsl.h"

#include <float.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

#define SOBOL_MOST     40 /* dimensions of GSL's sequence */
#define SLACK          1.01
#define GRID_RATIO     1.15
#define FACTOR_EPSILON 1e-4
#define MOST_ROUNDS    100 /* of Brent's method, which halves the interval at worst every third round */

typedef struct {
    const cmp_robust_problem *p;
    const cmp_robust_result *r; /* winner and value are known */
    double *factor;             /* p */
    size_t *which;              /* n: candidates to evaluate */
    cmp_outcome *outcome;       /* n: of those evaluated last */
    size_t done, total;         /* steps, for the progress */
} state;

static void set_progress(state *s, size_t done)
{
    s->done = done;
    if (s->p->progress)
        s->p->progress(s->p->user, s->done, s->total);
}

/* The best candidate that was evaluated last and is not ruled out; the first among equals. */
static size_t best_of(const state *s, size_t n)
{
    size_t best = CMP_NOBODY;

    for (size_t k = 0; k < n; k++) {
        size_t i = s->which[k];

        if (s->outcome[i].fits && (best == CMP_NOBODY || s->outcome[i].value < s->outcome[best].value))
            best = i;
    }
    return best;
}

/* Evaluates the n candidates of s->which. Without the winner to compare with, every other may be the best:
 * then all of them. */
static dse_status find_best(state *s, size_t n, size_t *best, dse_error *err)
{
    const cmp_robust_problem *p = s->p;
    dse_status st = p->evaluate(p->user, s->factor, s->which, n, s->outcome, err);

    if (st == DSE_OK && n < p->n && !s->outcome[s->r->winner].fits) {
        for (n = 0; n < p->n; n++)
            s->which[n] = n;
        st = p->evaluate(p->user, s->factor, s->which, n, s->outcome, err);
    }
    if (st == DSE_OK)
        *best = best_of(s, n);
    return st;
}

/* ---- draws ---------------------------------------------------------------------------------- */

/* The sequence itself is always the same; shifted as a whole, modulo 1, it is as even, and another one for
 * each seed (Cranley and Patterson 1976). */
static void fill_sobol(gsl_rng *rng, size_t p, size_t draws, double *u)
{
    gsl_qrng *q = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)p);
    double shift[SOBOL_MOST];

    if (!q)
        dse_out_of_memory();
    for (size_t k = 0; k < p; k++)
        shift[k] = gsl_rng_uniform(rng);
    for (size_t d = 0; d < draws; d++) {
        gsl_qrng_get(q, &u[d * p]);
        for (size_t k = 0; k < p; k++)
            u[d * p + k] = fmod(u[d * p + k] + shift[k], 1);
    }
    gsl_qrng_free(q);
}

/* Each parameter has one draw in each of `draws` equal parts of its range; their combination is
 * random. */
static void fill_hypercube(gsl_rng *rng, size_t p, size_t draws, double *u)
{
    size_t *part = dse_calloc(draws, sizeof *part);

    for (size_t k = 0; k < p; k++) {
        for (size_t d = 0; d < draws; d++)
            part[d] = d;
        gsl_ran_shuffle(rng, part, draws, sizeof *part);
        for (size_t d = 0; d < draws; d++)
            u[d * p + k] = ((double)part[d] + gsl_rng_uniform(rng)) / (double)draws;
    }
    dse_free(part);
}

/* draws * p numbers in [0, 1), draw by draw. */
static double *make_draws(const cmp_robust_problem *p)
{
    double *u = dse_calloc(p->draws, p->p * sizeof *u);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

    if (!rng)
        dse_out_of_memory();
    gsl_rng_set(rng, (unsigned long)p->seed);
    (p->p <= SOBOL_MOST ? fill_sobol : fill_hypercube)(rng, p->p, p->draws, u);
    gsl_rng_free(rng);
    return u;
}

/* Sets the factors, of which u is the place in the range's logarithm; the largest of them and their
 * inverses. */
static double set_factors(state *s, const double *u)
{
    double low = log(1 - s->p->spread), high = log(1 + s->p->spread), largest = 1;

    for (size_t k = 0; k < s->p->p; k++) {
        double f = s->factor[k] = exp(low + u[k] * (high - low));

        largest = fmax(largest, fmax(f, 1 / f));
    }
    return largest;
}

/* Adds the result of a draw; `sum` is of the regrets. */
static void count_draw(const state *s, size_t best, double *sum, cmp_robust_result *out)
{
    const cmp_outcome *winner = &s->outcome[out->winner];
    double regret;

    if (best == CMP_NOBODY)
        out->nobody++;
    else
        out->wins[best]++;
    if (!winner->fits) {
        out->dropped++;
        return;
    }
    regret = winner->value / s->outcome[best].value - 1;
    *sum += regret;
    if (isnan(out->worst_regret) || regret > out->worst_regret) {
        out->worst_regret = regret;
        if (regret > 0)
            memcpy(out->worst_factor, s->factor, s->p->p * sizeof *s->factor);
    }
}

static dse_status run_draws(state *s, const double *u, cmp_robust_result *out, dse_error *err)
{
    const cmp_robust_problem *p = s->p;
    double sum = 0;

    out->worst_regret = NAN;
    for (size_t d = 0; d < p->draws; d++) {
        double largest = set_factors(s, &u[d * p->p]);
        double limit = out->value[out->winner] * largest * largest * SLACK;
        size_t n = 0, best;
        dse_status st;

        for (size_t i = 0; i < p->n; i++)
            if (!(out->value[i] > limit))
                s->which[n++] = i;
        if ((st = find_best(s, n, &best, err)) != DSE_OK)
            return st;
        count_draw(s, best, &sum, out);
        set_progress(s, s->done + 1);
    }
    out->mean_regret = p->draws > out->dropped ? sum / (double)(p->draws - out->dropped) : NAN;
    return DSE_OK;
}

/* ---- crossovers ----------------------------------------------------------------------------- */

/* A parameter that moves alone. Places are logarithms of its factor. */
typedef struct {
    state *s;
    size_t parameter;
    double *at;                              /* n: where each candidate was evaluated last, */
    double *ratio;                           /* n: and how many times the winner's value it had there */
    double near_x, near_gap, far_x, far_gap; /* the ends of the step in which the winner is overtaken */
    cmp_crossover found;                     /* of the places nearest to 1 at which it is */
    dse_status status;
    dse_error *err;
} search;

/* A lower bound of a candidate's value, as a multiple of the winner's; NaN: unknown. */
static double least_ratio(const search *q, size_t i, double x)
{
    return q->ratio[i] / exp(fabs(x - q->at[i]));
}

/* Those that could be ahead at x, and the winner if there are any, or it may be ruled out; to s->which. */
static size_t collect(const search *q, double x)
{
    state *s = q->s;
    size_t n = 0;

    for (size_t i = 0; i < s->p->n; i++)
        if (i == s->r->winner || !(least_ratio(q, i, x) > SLACK))
            s->which[n++] = i;
    return n > 1 || s->p->limited ? n : 0;
}

/* Keeps what the candidates evaluated at x have, and returns how far the nearest of those that are not ruled
 * out is behind the winner, as a fraction of the winner's value. */
static double take_ratios(search *q, double x, size_t n)
{
    const state *s = q->s;
    double gap = INFINITY;

    for (size_t k = 0; k < n; k++) {
        size_t i = s->which[k];
        double ratio = s->outcome[i].value / s->outcome[s->r->winner].value;

        if (isnan(ratio)) /* what was known before still holds */
            continue;
        q->at[i] = x;
        q->ratio[i] = ratio;
        if (i != s->r->winner && s->outcome[i].fits)
            gap = fmin(gap, q->ratio[i] - 1);
    }
    return gap;
}

/* That, of all candidates, with what others have at least; below 0 if one is ahead, or the winner is ruled
 * out. Never 0, as equals are ordered: the sign alone says whether the winner is the best. Finite, for a root
 * to be found. */
static double gap_at(search *q, double x)
{
    state *s = q->s;
    size_t n = collect(q, x), winner = s->r->winner, best = winner;
    double gap = 1;

    for (size_t i = 0; i < s->p->n; i++)
        if (least_ratio(q, i, x) > SLACK)
            gap = fmin(gap, least_ratio(q, i, x) - 1);
    s->factor[q->parameter] = exp(x);
    q->status = n ? find_best(s, n, &best, q->err) : DSE_OK;
    s->factor[q->parameter] = 1;
    if (q->status != DSE_OK)
        return NAN;
    gap = fmin(gap, take_ratios(q, x, n));
    if (best == winner)
        return fmax(gap, DBL_EPSILON);
    q->found = (cmp_crossover){exp(x), best};
    return fmin(gap, -DBL_EPSILON);
}

/* For GSL, which knows no failure: what it is told after one does not matter, as long as it is a number. */
static double gap_in_step(double x, void *params)
{
    search *q = params;
    cmp_crossover before = q->found;
    double gap;

    if (x == q->near_x)
        return q->near_gap;
    if (x == q->far_x)
        return q->far_gap;
    if (q->status != DSE_OK)
        return q->near_gap;
    gap = gap_at(q, x);
    if (gap < 0 && fabs(log(before.factor)) < fabs(x))
        q->found = before;
    return q->status == DSE_OK ? gap : q->near_gap;
}

/* Narrows the step down until its ends are near enough. */
static dse_status refine(search *q, gsl_root_fsolver *solver)
{
    gsl_function f = {gap_in_step, q};

    if (gsl_root_fsolver_set(solver, &f, fmin(q->near_x, q->far_x), fmax(q->near_x, q->far_x)))
        return dse_fail(q->err, DSE_E_RANGE, "no crossover between the factors %g and %g", exp(q->near_x),
                        exp(q->far_x));
    for (int i = 0; i < MOST_ROUNDS && q->status == DSE_OK; i++) {
        if (gsl_root_fsolver_x_upper(solver) - gsl_root_fsolver_x_lower(solver) < FACTOR_EPSILON ||
            gsl_root_fsolver_iterate(solver))
            break;
    }
    return q->status;
}

/* The first step of the grid, outwards from factor 1, at whose end the winner is overtaken. */
static dse_status find_crossover(search *q, gsl_root_fsolver *solver, double direction, size_t steps,
                                 cmp_crossover *out)
{
    state *s = q->s;
    double length = log(s->p->reach) / (double)steps;
    size_t begun = s->done;

    q->found = (cmp_crossover){NAN, s->r->winner};
    q->far_x = 0;
    q->far_gap = DBL_EPSILON;
    for (size_t i = 0; i < s->p->n; i++) {
        q->at[i] = 0;
        q->ratio[i] = s->r->value[i] / s->r->value[s->r->winner];
    }
    for (size_t i = 1; i <= steps && isnan(q->found.factor); i++) {
        q->near_x = q->far_x;
        q->near_gap = q->far_gap;
        q->far_x = direction * length * (double)i;
        q->far_gap = gap_at(q, q->far_x);
        if (q->status != DSE_OK || (!isnan(q->found.factor) && refine(q, solver) != DSE_OK))
            return q->status;
        set_progress(s, begun + i);
    }
    *out = q->found;
    if (s->done < begun + steps) /* what is left of the grid need not be looked at */
        set_progress(s, begun + steps);
    return DSE_OK;
}

static size_t count_steps(const cmp_robust_problem *p)
{
    return (size_t)ceil(log(p->reach) / log(GRID_RATIO));
}

static dse_status run_searches(state *s, cmp_robust_result *out, dse_error *err)
{
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    search q = {.s = s,
                .at = dse_calloc(s->p->n, sizeof(double)),
                .ratio = dse_calloc(s->p->n, sizeof(double)),
                .err = err};
    size_t steps = count_steps(s->p);
    dse_status st = DSE_OK;

    if (!solver)
        dse_out_of_memory();
    for (size_t k = 0; k < s->p->p; k++)
        s->factor[k] = 1;
    for (; st == DSE_OK && q.parameter < s->p->p; q.parameter++) {
        st = find_crossover(&q, solver, -1, steps, &out->below[q.parameter]);
        if (st == DSE_OK)
            st = find_crossover(&q, solver, 1, steps, &out->above[q.parameter]);
    }
    gsl_root_fsolver_free(solver);
    dse_free(q.at);
    dse_free(q.ratio);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static cmp_robust_result result_of(const cmp_robust_problem *p, dse_arena *a)
{
    return (cmp_robust_result){.draws = p->draws,
                               .value = DSE_ARENA_NEW(a, double, p->n),
                               .wins = DSE_ARENA_NEW(a, uint32_t, p->n),
                               .worst_factor = DSE_ARENA_NEW(a, double, p->p),
                               .below = DSE_ARENA_NEW(a, cmp_crossover, p->p),
                               .above = DSE_ARENA_NEW(a, cmp_crossover, p->p)};
}

static dse_status find_winner(state *s, cmp_robust_result *r, dse_error *err)
{
    dse_status st;

    for (size_t k = 0; k < s->p->p; k++)
        s->factor[k] = r->worst_factor[k] = 1;
    for (size_t i = 0; i < s->p->n; i++)
        s->which[i] = i;
    if ((st = find_best(s, s->p->n, &r->winner, err)) != DSE_OK)
        return st;
    if (r->winner == CMP_NOBODY)
        return dse_fail(err, DSE_E_RANGE, "none of the candidates fits");
    for (size_t i = 0; i < s->p->n; i++)
        r->value[i] = s->outcome[i].value;
    set_progress(s, 1);
    return DSE_OK;
}

static dse_status run_all(state *s, cmp_robust_result *r, dse_error *err)
{
    double *u;
    dse_status st = find_winner(s, r, err);

    if (st != DSE_OK)
        return st;
    u = make_draws(s->p);
    st = run_draws(s, u, r, err);
    dse_free(u);
    return st == DSE_OK ? run_searches(s, r, err) : st;
}

dse_status cmp_robust(const cmp_robust_problem *p, dse_arena *a, cmp_robust_result *out, dse_error *err)
{
    cmp_robust_result r = result_of(p, a);
    state s = {.p = p,
               .r = &r,
               .factor = dse_calloc(p->p, sizeof(double)),
               .which = dse_calloc(p->n, sizeof(size_t)),
               .outcome = dse_calloc(p->n, sizeof(cmp_outcome)),
               .total = 1 + p->draws + 2 * p->p * count_steps(p)};
    gsl_error_handler_t *old = gsl_set_error_handler(dse_gsl_error);
    dse_status st = run_all(&s, &r, err);

    gsl_set_error_handler(old);
    dse_free(s.factor);
    dse_free(s.which);
    dse_free(s.outcome);
    if (st == DSE_OK)
        *out = r;
    return st;
}
