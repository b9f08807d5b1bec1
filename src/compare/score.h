/* cmp_score -- how near simulated figures are to measured ones: of one run by metric, of many runs by step
 * time.
 *
 * A relative error is (simulated - measured) / measured: positive where the simulation is too slow. What
 * cannot be said is NaN, never 0: a side that is absent, a measured 0, too few runs. */
#ifndef DSE_COMPARE_SCORE_H
#define DSE_COMPARE_SCORE_H

#include "compare/weights.h"

typedef enum { CMP_NEITHER, CMP_LOWER, CMP_HIGHER } cmp_better;

/* One metric of one run, from both sides. */
typedef struct {
    const char *name, *unit;
    cmp_better better;
    double tolerance;           /* of the relative error, as a fraction, within which the two sides agree */
    double simulated, measured; /* NaN: absent */
    const char *why_simulated;  /* why it is absent; NULL: it is there */
    const char *why_measured;
} cmp_pair;

/* NaN if a side is absent, or measured is 0 and simulated is not; 0 if both are 0. */
double cmp_error(double simulated, double measured);

/* The weighted mean of |relative error| over the pairs that have one and a weight, as a fraction: 0 is
 * perfect. NaN if there is none; *used: how many there were. */
double cmp_score(const cmp_pair *pairs, size_t n, const cmp_weights *w, size_t *used);

/* ---- errors of many ----------------------------------------------------------------------- */

/* Of relative errors, as fractions. Percentiles are sizes that occur: the smallest that is not below so
 * many. */
typedef struct {
    size_t n;                 /* that are known; without any the figures are NaN */
    double mean, median, p90; /* of |error| */
    double worst, bias;       /* the largest, with its sign, the first among equals; the mean with signs */
    double within;            /* the share that is at most a tenth */
    size_t which;             /* index of the worst */
} cmp_spread;

/* NaNs are passed over. */
cmp_spread cmp_spread_of(const double *error, size_t n);

/* ---- over runs ------------------------------------------------------------------------------- */

/* A run for which both step times are known (seconds, > 0). Runs of one group are choices for the same work:
 * the same model, batch, sequence and devices; ranks and regret compare within groups alone. */
typedef struct {
    double simulated, measured;
    uint32_t group;
} cmp_run;

/* A figure with a bootstrap percentile interval of 95 %. NaN: it cannot be said. The interval cannot be said
 * without resamples, of one run, and if more than a twentieth of the resamples lack the figure (three draws
 * from three runs are the same one once in nine times, and have no rank correlation). */
typedef struct {
    double value, low, high;
} cmp_estimate;

/* Regret: how much slower than the truly best the best measured of the k simulated-best is, as a fraction. */
#define CMP_TOPS 3
extern const uint32_t cmp_top_k[CMP_TOPS]; /* 1, 3, 5 */

typedef struct {
    size_t n;
    cmp_estimate mape;      /* mean |relative error| */
    cmp_estimate geometric; /* exp(mean |ln(simulated / measured)|) - 1 */
    cmp_estimate bias;      /* exp(mean ln(simulated / measured)) - 1: too slow where positive */
    size_t worst;           /* index of the largest |relative error|; the first among equals; 0 of no runs */
    double worst_error;     /* signed */
    /* 1 - SS(simulated - measured) / SS(measured - mean); of 3 runs or more that are not all measured
     * equal. */
    cmp_estimate r2;
    size_t n_groups, n_runs; /* groups of two runs or more, and the runs in them */
    /* Mean over groups of three or more, weighted by runs, but for those in which all are equal on a side. */
    cmp_estimate spearman;
    size_t spearman_groups;        /* how many that are */
    cmp_estimate kendall;          /* tau-b over all pairs of runs within groups */
    cmp_estimate regret[CMP_TOPS]; /* mean over groups of more than k runs */
    size_t regret_groups[CMP_TOPS];
    double worst_regret[CMP_TOPS]; /* of these groups */
} cmp_summary;

typedef struct {
    uint64_t seed;      /* of which the generator takes 32 bits */
    uint32_t resamples; /* 0: no intervals */
} cmp_bootstrap;

/* Resampling draws whole runs with replacement within each group, so that groups keep their sizes; runs that
 * are alone in theirs are drawn among themselves (GSL's mt19937). A run drawn twice counts as two. So an
 * interval says how far a figure hangs on which runs happened to be measured; of few runs it is too narrow.
 *
 * The order of the runs does not matter, nor how groups are numbered, but for one thing: of runs of a group
 * that are simulated equal the earlier counts as the better when regret picks. The same seed gives the same
 * figures to the last bit. The arena is used for scratch. */
cmp_summary cmp_summarize(const cmp_run *runs, size_t n, const cmp_bootstrap *b, dse_arena *a);

#endif
