#include "compare/rank.h"

#include "base/gsl.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#define DRAWS 400

/* The mean of ln measured over the repeats of i, which is the first of them, and how many there are. */
static double mean_of(const cmp_run *run, const size_t *repeats, size_t n, size_t i, double *count)
{
    double sum = 0;

    *count = 0;
    for (size_t k = i; k < n; k++)
        if (repeats[k] == i) {
            sum += log(run[k].measured);
            ++*count;
        }
    return sum / *count;
}

static cmp_repeats merge(const cmp_run *run, const size_t *repeats, size_t n, dse_arena *a)
{
    cmp_repeats r = {.run = DSE_ARENA_NEW(a, cmp_run, n), .count = DSE_ARENA_NEW(a, double, n)};
    double squares = 0, freedom = 0;

    for (size_t i = 0; i < n; i++) {
        double mean, count;

        if (repeats[i] != i)
            continue;
        mean = mean_of(run, repeats, n, i, &count);
        for (size_t k = i; k < n; k++)
            if (repeats[k] == i)
                squares += (log(run[k].measured) - mean) * (log(run[k].measured) - mean);
        freedom += count - 1;
        r.run[r.n] = run[i];
        r.run[r.n].measured = exp(mean);
        r.count[r.n++] = count;
        r.n_repeated += count > 1;
    }
    r.deviation = freedom > 0 ? sqrt(squares / freedom) : NAN;
    return r;
}

/* The mean of tau and of top-1 regret over draws; those that cannot be said are passed over. */
static void draw(const cmp_repeats *r, cmp_run *drawn, gsl_rng *rng, dse_arena *a, double *kendall,
                 double *regret)
{
    double sum[2] = {0}, known[2] = {0};

    for (int k = 0; k < DRAWS; k++) {
        const cmp_bootstrap none = {0};
        cmp_summary s;

        for (size_t i = 0; i < r->n; i++) {
            drawn[i] = r->run[i];
            drawn[i].simulated =
                drawn[i].measured * exp(gsl_ran_gaussian(rng, r->deviation / sqrt(r->count[i])));
        }
        dse_arena_reset(a);
        s = cmp_summarize(drawn, r->n, &none, a);
        for (int f = 0; f < 2; f++) {
            const double v = f ? s.regret[0].value : s.kendall.value;

            if (!isnan(v)) {
                sum[f] += v;
                known[f]++;
            }
        }
    }
    *kendall = known[0] > 0 ? sum[0] / known[0] : NAN;
    *regret = known[1] > 0 ? sum[1] / known[1] : NAN;
}

cmp_repeats cmp_merge_repeats(const cmp_run *run, const size_t *repeats, size_t n, uint64_t seed,
                              dse_arena *a)
{
    cmp_repeats r = merge(run, repeats, n, a);
    gsl_error_handler_t *old;
    dse_arena scratch;
    gsl_rng *rng;

    r.kendall = r.regret = NAN;
    if (isnan(r.deviation))
        return r;
    old = gsl_set_error_handler(dse_gsl_error);
    if (!(rng = gsl_rng_alloc(gsl_rng_mt19937)))
        dse_out_of_memory();
    gsl_set_error_handler(old);
    gsl_rng_set(rng, (unsigned long)seed);
    dse_arena_init(&scratch);
    draw(&r, DSE_ARENA_NEW(a, cmp_run, r.n), rng, &scratch, &r.kendall, &r.regret);
    dse_arena_free(&scratch);
    gsl_rng_free(rng);
    return r;
}
