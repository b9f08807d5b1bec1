/* Figures over many runs, and their bootstrap intervals (Efron and Tibshirani, An Introduction to the
 * Bootstrap, 1993, chapter 13: the percentile interval).
 *
 * Runs are put into an order of their own first: groups by size, then by their figures. So neither the sums
 * nor the draws depend on the order in which the caller has them. */
#include "compare/rank.h"

#include "base/gsl.h"

#include <assert.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the resamples that may lack a figure that has an interval. */
#define MOST_WITHOUT 0.05
#define TAIL         0.025 /* on either side of an interval of 95 % */

enum { MAPE, GEOMETRIC, BIAS, R2, SPEARMAN, KENDALL, REGRET, N_FIGURES = REGRET + CMP_TOPS };

/* Where each figure is kept. */
static const size_t place[N_FIGURES] = {
    [MAPE] = offsetof(cmp_summary, mape),
    [GEOMETRIC] = offsetof(cmp_summary, geometric),
    [BIAS] = offsetof(cmp_summary, bias),
    [R2] = offsetof(cmp_summary, r2),
    [SPEARMAN] = offsetof(cmp_summary, spearman),
    [KENDALL] = offsetof(cmp_summary, kendall),
    [REGRET] = offsetof(cmp_summary, regret[0]),
    [REGRET + 1] = offsetof(cmp_summary, regret[1]),
    [REGRET + 2] = offsetof(cmp_summary, regret[2]),
};

static cmp_estimate *estimate_of(cmp_summary *s, int figure)
{
    return (cmp_estimate *)(void *)((char *)s + place[figure]);
}

typedef struct {
    size_t n, n_groups;
    cmp_item *item;   /* n, group after group */
    size_t *start;    /* n_groups + 1: where each begins */
    size_t n_single;  /* groups of one run, which stand first */
    double *scratch;  /* 3 n */
    cmp_item *sorted; /* 2 n */
} sample;

/* ---- the order of the runs ------------------------------------------------------------------ */

typedef struct {
    cmp_item item;
    uint32_t group;
} member;

typedef struct {
    const member *first;
    size_t n;
} group;

static int compare_doubles(double a, double b) { return (a > b) - (a < b); }

static int compare_figures(const cmp_item *a, const cmp_item *b)
{
    int order = compare_doubles(a->measured, b->measured);

    return order ? order : compare_doubles(a->simulated, b->simulated);
}

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = (x->group > y->group) - (x->group < y->group);

    order = order ? order : compare_figures(&x->item, &y->item);
    return order ? order : (x->item.index > y->item.index) - (x->item.index < y->item.index);
}

/* By size, then by what is in them; of equal ones what the caller has first stays first. */
static int compare_groups(const void *a, const void *b)
{
    const group *x = a, *y = b;
    size_t i = x->first->item.index, j = y->first->item.index;
    int order = (x->n > y->n) - (x->n < y->n);

    for (size_t k = 0; !order && k < x->n; k++)
        order = compare_figures(&x->first[k].item, &y->first[k].item);
    return order ? order : (i > j) - (i < j);
}

/* Fills s->item and s->start. */
static void arrange(member *members, group *groups, sample *s)
{
    size_t at = 0;

    qsort(members, s->n, sizeof *members, compare_members);
    for (size_t i = 0; i < s->n; i++) {
        if (i == 0 || members[i].group != members[i - 1].group)
            groups[s->n_groups++] = (group){.first = &members[i]};
        groups[s->n_groups - 1].n++;
    }
    qsort(groups, s->n_groups, sizeof *groups, compare_groups);
    for (size_t g = 0; g < s->n_groups; g++) {
        s->start[g] = at;
        s->n_single += groups[g].n == 1;
        for (size_t i = 0; i < groups[g].n; i++)
            s->item[at++] = groups[g].first[i].item;
    }
    s->start[s->n_groups] = at;
}

/* A sample of at least one run. */
static void make_sample(const cmp_run *runs, size_t n, dse_arena *a, sample *out)
{
    member *members = DSE_ARENA_NEW(a, member, n);
    group *groups = DSE_ARENA_NEW(a, group, n);

    *out = (sample){.n = n,
                    .item = DSE_ARENA_NEW(a, cmp_item, n),
                    .start = DSE_ARENA_NEW(a, size_t, n + 1),
                    .scratch = DSE_ARENA_NEW(a, double, 3 * n),
                    .sorted = DSE_ARENA_NEW(a, cmp_item, 2 * n)};
    for (size_t i = 0; i < n; i++) {
        assert(runs[i].simulated > 0 && runs[i].measured > 0 && isfinite(runs[i].simulated) &&
               isfinite(runs[i].measured));
        members[i] = (member){{runs[i].simulated, runs[i].measured, i}, runs[i].group};
    }
    arrange(members, groups, out);
}

/* ---- figures -------------------------------------------------------------------------------- */

static void measure_errors(const sample *s, double figure[N_FIGURES])
{
    double *absolute = s->scratch, *logarithm = absolute + s->n, *measured = logarithm + s->n, residuals = 0;
    double spread;

    for (size_t i = 0; i < s->n; i++) {
        const cmp_item *r = &s->item[i];

        absolute[i] = fabs(cmp_error(r->simulated, r->measured));
        logarithm[i] = log(r->simulated / r->measured);
        measured[i] = r->measured;
        residuals += (r->simulated - r->measured) * (r->simulated - r->measured);
    }
    figure[MAPE] = gsl_stats_mean(absolute, 1, s->n);
    figure[BIAS] = expm1(gsl_stats_mean(logarithm, 1, s->n));
    for (size_t i = 0; i < s->n; i++)
        logarithm[i] = fabs(logarithm[i]);
    figure[GEOMETRIC] = expm1(gsl_stats_mean(logarithm, 1, s->n));
    spread = gsl_stats_tss(measured, 1, s->n);
    figure[R2] = s->n >= 3 && spread > 0 ? 1 - residuals / spread : NAN;
}

/* Adds a group's regrets to the sums. */
static void add_regret(const cmp_item *items, size_t n, double sum[CMP_TOPS], cmp_summary *count)
{
    double regret[CMP_TOPS];

    cmp_regret(items, n, regret);
    for (int t = 0; t < CMP_TOPS; t++) {
        if (isnan(regret[t]))
            continue;
        sum[t] += regret[t];
        count->worst_regret[t] = fmax(count->worst_regret[t], regret[t]); /* NaN gives way */
        count->regret_groups[t]++;
    }
}

/* `count` gets what the figures rest on, and the worst regrets. */
static void measure_ranks(const sample *s, double figure[N_FIGURES], cmp_summary *count)
{
    double rho = 0, runs = 0, regret[CMP_TOPS] = {0};
    cmp_pair_counts pairs = {0};

    for (size_t g = s->n_single; g < s->n_groups; g++) {
        const cmp_item *items = s->item + s->start[g];
        size_t n = s->start[g + 1] - s->start[g];
        double r = cmp_spearman(items, n, s->sorted);

        if (!isnan(r)) {
            rho += (double)n * r;
            runs += (double)n;
            count->spearman_groups++;
        }
        cmp_count_pairs(items, n, s->sorted, &pairs);
        add_regret(items, n, regret, count);
    }
    figure[SPEARMAN] = runs > 0 ? rho / runs : NAN;
    figure[KENDALL] = cmp_tau_b(&pairs);
    for (int t = 0; t < CMP_TOPS; t++)
        figure[REGRET + t] = count->regret_groups[t] ? regret[t] / (double)count->regret_groups[t] : NAN;
}

static void measure(const sample *s, double figure[N_FIGURES], cmp_summary *count)
{
    for (int t = 0; t < CMP_TOPS; t++)
        count->worst_regret[t] = NAN;
    measure_errors(s, figure);
    measure_ranks(s, figure, count);
}

/* ---- intervals ------------------------------------------------------------------------------ */

static void draw_among(const cmp_item *from, size_t n, gsl_rng *rng, cmp_item *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[gsl_rng_uniform_int(rng, n)];
}

static void draw(const sample *from, gsl_rng *rng, sample *to)
{
    if (from->n_single)
        draw_among(from->item, from->n_single, rng, to->item);
    for (size_t g = from->n_single; g < from->n_groups; g++) {
        size_t at = from->start[g];

        draw_among(from->item + at, from->start[g + 1] - at, rng, to->item + at);
    }
}

/* Sorts the values, of which NaNs are left out. */
static void take_interval(double *value, size_t n, cmp_estimate *out)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            value[known++] = value[i];
    if (isnan(out->value) || !known || (double)(n - known) > MOST_WITHOUT * (double)n)
        return;
    gsl_sort(value, 1, known);
    out->low = gsl_stats_quantile_from_sorted_data(value, 1, known, TAIL);
    out->high = gsl_stats_quantile_from_sorted_data(value, 1, known, 1 - TAIL);
}

static void resample(const sample *s, const cmp_bootstrap *b, dse_arena *a, cmp_summary *out)
{
    double *value = dse_arena_zero(a, b->resamples, N_FIGURES * sizeof *value); /* figure after figure */
    double figure[N_FIGURES];
    sample drawn = *s;
    gsl_error_handler_t *old;
    gsl_rng *rng;

    drawn.item = DSE_ARENA_NEW(a, cmp_item, s->n);
    old = gsl_set_error_handler(dse_gsl_error);
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(old);
    if (!rng)
        dse_out_of_memory();
    gsl_rng_set(rng, (unsigned long)b->seed);
    for (uint32_t r = 0; r < b->resamples; r++) {
        cmp_summary count = {0};

        draw(s, rng, &drawn);
        measure(&drawn, figure, &count);
        for (size_t f = 0; f < N_FIGURES; f++)
            value[f * b->resamples + r] = figure[f];
    }
    gsl_rng_free(rng);
    for (int f = 0; f < N_FIGURES; f++)
        take_interval(value + (size_t)f * b->resamples, b->resamples, estimate_of(out, f));
}

/* ---- all ------------------------------------------------------------------------------------ */

static void find_worst(const cmp_run *runs, size_t n, cmp_summary *s)
{
    s->worst_error = NAN;
    for (size_t i = 0; i < n; i++) {
        double error = cmp_error(runs[i].simulated, runs[i].measured);

        if (i == 0 || fabs(error) > fabs(s->worst_error)) {
            s->worst = i;
            s->worst_error = error;
        }
    }
}

cmp_summary cmp_summarize(const cmp_run *runs, size_t n, const cmp_bootstrap *b, dse_arena *a)
{
    double figure[N_FIGURES];
    cmp_summary sum = {.n = n};
    sample s = {0};

    for (int f = 0; f < N_FIGURES; f++)
        figure[f] = NAN;
    find_worst(runs, n, &sum);
    for (int t = 0; t < CMP_TOPS; t++)
        sum.worst_regret[t] = NAN;
    if (n) {
        make_sample(runs, n, a, &s);
        measure(&s, figure, &sum);
    }
    for (int f = 0; f < N_FIGURES; f++)
        *estimate_of(&sum, f) = (cmp_estimate){figure[f], NAN, NAN};
    sum.n_groups = s.n_groups - s.n_single;
    sum.n_runs = n - s.n_single;
    if (n > 1 && b->resamples)
        resample(&s, b, a, &sum);
    return sum;
}
